// An element that shows a growing Markdown text. Blocks that are complete are made once and stay; only the last one, which may still
// change its meaning, is made anew with each update, so an update costs what the last block costs, however long the answer is.
import { blocksOf, elementsOf, fenceOf } from "./markdown.js";
import { colorize } from "./highlight.js";
import { button, copy, h } from "./dom.js";

// Where line `n` of `text` begins.
function lineStart(text, n) {
  let at = 0;
  for (; n > 0; n--) at = text.indexOf("\n", at) + 1;
  return at;
}

export class MarkdownView {
  #element;
  #env = {};
  #done = 0; // characters of the text whose elements stay
  #tail = []; // elements of the rest
  #openCode = null; // the <code> of the rest, if it is a fence

  constructor(element) {
    this.#element = element;
  }

  update(text) {
    this.#show(text.replaceAll(/\r\n?/g, "\n"), false);
  }

  // The text is complete.
  finish(text) {
    text = text.replaceAll(/\r\n?/g, "\n");
    if (/^ {0,3}\[[^\]]+\]:/m.test(text)) this.#reset(); // links may be defined behind their use
    this.#show(text, true);
  }

  #reset() {
    this.#element.replaceChildren();
    this.#done = 0;
    this.#tail = [];
    this.#openCode = null;
  }

  #show(text, isWhole) {
    const rest = text.slice(this.#done);
    const blocks = blocksOf(rest, this.#env);
    const last = isWhole ? undefined : blocks.pop();
    if (last && blocks.length === 0 && this.#extend(last)) return;
    for (const node of this.#tail) node.remove();
    this.#tail = [];
    this.#openCode = null;
    this.#append(blocks, true);
    if (!last) return;
    this.#done += blocks.length > 0 ? lineStart(rest, last.line) : 0;
    this.#tail = this.#append([last], false);
  }

  // Code that grows keeps its element, and so what is selected in it.
  #extend(block) {
    const fence = fenceOf(block);
    if (!fence || this.#openCode?.name !== fence.name) return false;
    const text = this.#openCode.element.firstChild;
    if (text) text.data = fence.code;
    else this.#openCode.element.textContent = fence.code;
    return true;
  }

  #append(blocks, isDone) {
    if (blocks.length === 0) return [];
    const fragment = elementsOf(blocks, this.#env);
    for (const code of fragment.querySelectorAll("pre > code")) {
      const name = code.className.replace(/^language-/, "");
      frame(code, name);
      if (isDone) colorize(code, name);
      else this.#openCode = { element: code, name };
    }
    for (const table of fragment.querySelectorAll("table")) {
      const frame = h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" });
      table.replaceWith(frame);
      frame.append(table);
    }
    const nodes = [...fragment.childNodes];
    this.#element.append(fragment);
    return nodes;
  }
}

// Puts a head with the language and a button around the code.
function frame(code, name) {
  const pre = code.parentElement;
  const press = button("copy", "Copy code", () => copy(code.textContent, press));
  const box = h("div", { class: "code" }, h("div", { class: "code-head" }, h("span", {}, name || "text"), press));
  pre.replaceWith(box);
  pre.tabIndex = 0;
  box.append(pre);
}

export function showMarkdown(element, text) {
  new MarkdownView(element).finish(text);
}
