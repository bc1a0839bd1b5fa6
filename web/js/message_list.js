// The messages that are shown. Of a long chat a window of some messages is mounted, which moves as somebody scrolls, a few milliseconds
// at a time; so a chat of thousands costs what a short one does. While the end is in sight, it stays in sight.
import { MessageView } from "./message_view.js";

const SLICE_MS = 4;
const AHEAD_PX = 1500; // mounted above and below what is seen
const MOST_MOUNTED = 120; // more than fit into that

export class MessageList {
  #views = new Map(); // message's id → view, of those that are mounted
  #path = [];
  #first = 0; // those from here on are mounted,
  #last = 0; // and those before here
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
    this.#follows = !keep;
    const kept = keep ? this.#path.findIndex(({ id }) => id === keep) : -1;
    this.#first = this.#last = kept < 0 ? this.#path.length : kept;
    if (kept >= 0) this.#mountBelow();
    this.#fill();
    if (kept >= 0) this.#bringBack(keep);
    if (this.conversation.run) this.#watch(this.conversation.run);
  }

  #bringBack(id) {
    const { element } = this.#views.get(id);
    element.scrollIntoView({ block: "nearest" });
    element.querySelector(".branches button:not(:disabled)")?.focus({ preventScroll: true });
  }

  #mount(message) {
    const view = new MessageView(message, this.conversation);
    this.#views.set(message.id, view);
    return view.element;
  }

  #unmount({ id }) {
    this.#views.get(id).element.remove();
    this.#views.delete(id);
  }

  #add(message) {
    if (this.#last < this.#path.length) return this.show({}); // the end was not mounted
    this.#path.push(message);
    this.box.append(this.#mount(message));
    this.#last++;
    this.toTheEnd();
  }

  // One after the other until the slice of time is over; at least one.
  #slice(hasMore, mount) {
    const end = performance.now() + SLICE_MS;
    const elements = [];
    do elements.push(mount());
    while (hasMore() && performance.now() < end);
    return elements;
  }

  #mountAbove() {
    const elements = this.#slice(
      () => this.#first > 0,
      () => this.#mount(this.#path[--this.#first]),
    ).reverse();
    if (this.log.scrollTop === 0) this.log.scrollTop = 1; // at 0 a browser does not hold what is seen
    this.box.prepend(...elements);
    while (this.#last - this.#first > MOST_MOUNTED) this.#unmount(this.#path[--this.#last]);
    if (this.#follows) this.#scrollToEnd();
  }

  #mountBelow() {
    this.box.append(
      ...this.#slice(
        () => this.#last < this.#path.length,
        () => this.#mount(this.#path[this.#last++]),
      ),
    );
    while (this.#last - this.#first > MOST_MOUNTED) this.#unmount(this.#path[this.#first++]);
  }

  // Mounts what is near, now and until nothing is missing.
  #fill() {
    if (this.#isFilling) return;
    const { scrollTop, scrollHeight, clientHeight } = this.log;
    if (this.#first > 0 && scrollTop < AHEAD_PX) this.#mountAbove();
    else if (this.#last < this.#path.length && scrollHeight - scrollTop - clientHeight < AHEAD_PX) this.#mountBelow();
    else return;
    this.#isFilling = true;
    setTimeout(() => {
      this.#isFilling = false;
      this.#fill();
    }, 0);
  }

  #scrolled() {
    const top = this.log.scrollTop;
    const isAtEnd = this.#last === this.#path.length && this.log.scrollHeight - top - this.log.clientHeight < 12;
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
    if (this.#last < this.#path.length) return this.show({});
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
