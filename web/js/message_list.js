// The messages that are shown. A long chat is mounted from its end, a few milliseconds at a time, as far as somebody scrolls; what is
// off the screen costs no layout (content-visibility). While the end is in sight, it stays in sight.
import { MessageView } from "./message_view.js";

const SLICE_MS = 8;
const AHEAD_PX = 2000; // above what is seen

export class MessageList {
  #views = new Map(); // message's id → view, of those that are mounted
  #path = [];
  #first = 0; // index of the first one mounted
  #target = Infinity; // index that shall be mounted, whatever is seen
  #follows = true;
  #lastTop = 0;
  #isFilling = false;
  #growing = null;
  #nextGrow = 0;

  constructor({ log, box, toEnd, conversation }) {
    Object.assign(this, { log, box, toEnd, conversation });
    log.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    toEnd.addEventListener("click", () => this.toTheEnd());
    new ResizeObserver(() => this.#follows && this.#scrollToEnd()).observe(box);
    conversation.addEventListener("show", ({ detail }) => this.show(detail ?? {}));
    conversation.addEventListener("grow", ({ detail }) => this.#add(detail));
    conversation.addEventListener("run", ({ detail }) => this.#watch(detail));
  }

  // `keep`: the id of a message that was looked at, and is to be in sight.
  show({ keep }) {
    this.#path = this.conversation.path;
    this.#views.clear();
    this.box.replaceChildren();
    this.#first = this.#path.length;
    this.#follows = !keep;
    this.#target = keep ? Math.max(0, this.#path.findIndex(({ id }) => id === keep) - 2) : Infinity;
    this.#fill(() => keep && this.#bringBack(keep));
    if (this.conversation.run) this.#watch(this.conversation.run);
  }

  #bringBack(id) {
    const { element } = this.#views.get(id);
    element.scrollIntoView({ block: "nearest" });
    element.querySelector(".branches button:not(:disabled)")?.focus();
  }

  #mount(message) {
    const view = new MessageView(message, this.conversation);
    this.#views.set(message.id, view);
    return view.element;
  }

  #add(message) {
    this.#path.push(message);
    this.box.append(this.#mount(message));
    this.toTheEnd();
  }

  // Mounts earlier messages while there is a wish for them.
  #fill(done) {
    if (this.#isFilling) return;
    const isWanted = () => this.#first > 0 && (this.#first > this.#target || this.log.scrollTop < AHEAD_PX);
    const slice = () => {
      const end = performance.now() + SLICE_MS;
      const elements = [];
      do elements.unshift(this.#mount(this.#path[--this.#first]));
      while (this.#first > 0 && performance.now() < end);
      if (this.log.scrollTop === 0) this.log.scrollTop = 1; // at 0 a browser does not hold what is seen
      this.box.prepend(...elements);
      if (this.#follows) this.#scrollToEnd();
    };
    const step = () => {
      if (isWanted()) slice();
      this.#isFilling = isWanted();
      if (this.#isFilling) setTimeout(step, 0);
      else done?.();
    };
    step();
  }

  #scrolled() {
    const top = this.log.scrollTop;
    const isAtEnd = this.log.scrollHeight - top - this.log.clientHeight < 12;
    if (isAtEnd) this.#follows = true;
    else if (top < this.#lastTop) this.#follows = false;
    this.#lastTop = top;
    this.toEnd.hidden = isAtEnd || this.#follows;
    this.#fill();
  }

  #scrollToEnd() {
    this.log.scrollTop = this.log.scrollHeight;
    this.#lastTop = this.log.scrollTop;
    this.toEnd.hidden = true;
  }

  toTheEnd() {
    this.#follows = true;
    this.#scrollToEnd();
  }

  // The answer under way: shown once a frame, and less often where a piece takes long.
  #watch(run) {
    if (this.#growing === run && !run.isOver) return;
    const view = () => (this.conversation.run === run || run.isOver ? this.#views.get(run.message.id) : null);
    if (run.isOver) {
      view()?.end();
      return;
    }
    this.#growing = run;
    let isDue = false;
    run.addEventListener("change", () => {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        const grow = () => {
          isDue = false;
          if (run.isOver) return;
          const began = performance.now();
          view()?.grow();
          this.#nextGrow = performance.now() + 3 * (performance.now() - began);
        };
        const wait = this.#nextGrow - performance.now();
        if (wait > 16) setTimeout(grow, wait);
        else grow();
      });
    });
  }
}
