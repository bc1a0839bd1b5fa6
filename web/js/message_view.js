// One message as an element. Actions are of the conversation; the element only shows and asks.
import { button, copy, h } from "./dom.js";
import { MarkdownView, showMarkdown } from "./markdown_view.js";
import { factsOf } from "./facts.js";

const FINISHES = { length: "reached the limit", stopped: "stopped", cancelled: "stopped" };

export class MessageView {
  #body = h("div", { class: "body" });
  #foot = h("div", { class: "foot" });
  #thought = null; // view of the reasoning
  #view = null; // of the text, while it grows

  constructor(message, conversation) {
    this.message = message;
    this.conversation = conversation;
    const isUser = message.role === "user";
    const name = isUser ? "You" : message.model || "Assistant";
    this.element = h(
      "article",
      { class: `message ${message.role}`, "aria-label": isUser ? "You" : `Answer of ${name}`, "data-id": message.id },
      !isUser && h("div", { class: "who" }, name),
      this.#body,
      this.#foot,
    );
    if (isUser) this.#body.append(h("div", { class: "said" }, message.content));
    else this.#showAnswer();
    this.showFoot();
  }

  #showAnswer() {
    const { message } = this;
    this.#body.replaceChildren();
    this.#thought = this.#view = null;
    const run = this.#run();
    if (run) return this.grow();
    if (message.reasoning) showMarkdown(this.#thoughts(false), message.reasoning);
    const text = h("div", { class: "text" });
    this.#body.append(text);
    showMarkdown(text, message.content);
    if (message.error) this.#body.append(this.#failure(message.error));
  }

  #run() {
    const run = this.conversation.run;
    return run?.message.id === this.message.id ? run : null;
  }

  #thoughts(isOpen) {
    const text = h("div", { class: "text" });
    const details = h(
      "details",
      { class: "thoughts", open: isOpen },
      h("summary", {}, isOpen ? "Thinking…" : "Thoughts"),
      text,
    );
    this.#body.prepend(details);
    return text;
  }

  // The answer under way has more.
  grow() {
    const { message } = this;
    this.element.classList.add("grows");
    if (message.reasoning) {
      this.#thought ??= new MarkdownView(this.#thoughts(true));
      this.#thought.update(message.reasoning);
    }
    if (!message.content) {
      if (!message.reasoning && !this.#body.firstChild)
        this.#body.append(h("div", { class: "waiting", role: "img", "aria-label": "Waiting" }, h("i"), h("i"), h("i")));
      return;
    }
    if (!this.#view) {
      this.#body.querySelector(".waiting")?.remove();
      const text = h("div", { class: "text" });
      this.#body.append(text);
      this.#view = new MarkdownView(text);
      const thoughts = this.#body.querySelector(".thoughts");
      if (thoughts) {
        thoughts.open = false;
        thoughts.firstChild.textContent = "Thoughts";
      }
    }
    this.#view.update(message.content);
  }

  // The answer is over.
  end() {
    const { message } = this;
    this.grow(); // its last pieces may have come since the last frame
    this.element.classList.remove("grows");
    this.#body.querySelector(".waiting")?.remove();
    if (this.#thought) this.#thought.finish(message.reasoning);
    if (this.#view) this.#view.finish(message.content);
    if (message.error) this.#body.append(this.#failure(message.error));
    this.element.querySelector(".who").textContent = message.model || "Assistant";
    this.showFoot();
  }

  #failure(error) {
    const retry = h("button", { type: "button", onclick: () => this.conversation.retry(this.message.id) }, "Try again");
    return h("div", { class: "failure", role: "alert" }, h("span", {}, error.message), retry);
  }

  showFoot() {
    const { message, conversation } = this;
    this.#foot.replaceChildren();
    if (this.#run()) return;
    this.#foot.append(this.#branches());
    const press = button("copy", "Copy message", () => copy(message.content, press));
    this.#foot.append(press);
    if (message.role === "user") {
      this.#foot.append(button("edit", "Edit and send again", () => this.#edit()));
      return;
    }
    this.#foot.append(button("retry", "Answer again", () => conversation.retry(message.id)));
    const finish = message.isOpen ? "interrupted" : FINISHES[message.finish];
    if (finish) this.#foot.append(h("span", { class: "finish" }, finish));
    const facts = factsOf(message);
    if (facts) this.#foot.append(facts);
  }

  #branches() {
    const { message, conversation } = this;
    const siblings = conversation.tree.siblings(message.id);
    if (siblings.length < 2) return "";
    const at = siblings.indexOf(message.id);
    const go = (step, label, name) =>
      button(name, label, () => conversation.pick(siblings[at + step]), { disabled: !siblings[at + step] });
    return h(
      "span",
      { class: "branches", role: "group", "aria-label": "Branches" },
      go(-1, "Previous branch", "left"),
      h("span", { class: "count" }, `${at + 1} / ${siblings.length}`),
      go(1, "Next branch", "right"),
    );
  }

  #edit() {
    const area = h("textarea", { "aria-label": "Edit message", rows: "1" });
    area.value = this.message.content;
    const close = () => {
      form.replaceWith(said);
      this.#foot.hidden = false;
      this.#foot.querySelector("[aria-label^=Edit]")?.focus();
    };
    const send = (event) => {
      event.preventDefault();
      if (area.value.trim() && !this.conversation.run) this.conversation.edit(this.message.id, area.value);
    };
    const form = h(
      "form",
      { class: "editor", onsubmit: send },
      area,
      h(
        "div",
        { class: "row-of-buttons" },
        h("button", { type: "button", onclick: close }, "Cancel"),
        h("button", { class: "primary" }, "Send"),
      ),
    );
    area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
      if (event.key === "Escape" || event.key === "Enter") event.stopPropagation();
    });
    const said = this.#body.firstChild;
    said.replaceWith(form);
    this.#foot.hidden = true;
    area.focus();
  }
}
