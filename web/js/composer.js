// The box where a message is written.
import { $, announce } from "./dom.js";

export class Composer {
  #drafts = new Map(); // chat's id → text
  #shown = null;

  constructor(conversation) {
    this.conversation = conversation;
    this.box = $("prompt");
    $("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    $("stop").addEventListener("click", () => conversation.stop());
    this.box.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("input", () => this.#fit());
    conversation.addEventListener("show", () => this.#show());
    conversation.addEventListener("run", ({ detail }) => this.#run(detail));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open]"))
        conversation.stop();
    });
  }

  #key(event) {
    // Where fingers write, Enter is the only way to a new line.
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !isTouch) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "ArrowUp" && this.box.value === "") {
      const own = document.querySelectorAll(".message.user [aria-label^='Edit']");
      if (own.length === 0 || this.conversation.run) return;
      event.preventDefault();
      own[own.length - 1].click();
    }
  }

  #send() {
    const text = this.box.value;
    if (!text.trim() || this.conversation.run) return;
    this.box.value = "";
    this.#fit();
    this.conversation.send(text);
  }

  // As high as its text where the browser does not do that by itself.
  #fit() {
    $("send").disabled = !this.box.value.trim();
    if (CSS.supports("field-sizing", "content")) return;
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight}px`;
  }

  #show() {
    const { chat, tree } = this.conversation;
    if (this.#shown !== chat.id) {
      // What was written while the page was loading stays.
      if (this.#shown !== null) {
        this.#drafts.set(this.#shown, this.box.value);
        this.box.value = this.#drafts.get(chat.id) ?? "";
      }
      this.#shown = chat.id;
    }
    this.#fit();
    $("welcome").hidden = tree.size > 0;
    this.#buttons();
  }

  #buttons() {
    const isBusy = Boolean(this.conversation.run);
    const hadFocus = document.activeElement === $("stop");
    $("send").hidden = isBusy;
    $("stop").hidden = !isBusy;
    if (hadFocus && !isBusy) this.box.focus();
  }

  #run(run) {
    $("welcome").hidden = true;
    this.#buttons();
    if (run.chat.id !== this.conversation.chat.id) return;
    if (!run.isOver) announce("Answering");
    else if (run.message.error) announce(`The answer failed: ${run.message.error.message}`);
    else announce(`The answer: ${run.message.content.slice(0, 2000)}`);
  }
}
