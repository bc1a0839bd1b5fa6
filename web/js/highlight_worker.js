// Colors code on a thread of its own: a long text, or one that drives an expression wild, never stops the page.
import hljs from "../vendor/highlight.js";

onmessage = ({ data: { id, code, name } }) => {
  const html = hljs.getLanguage(name) ? hljs.highlight(code, { language: name, ignoreIllegals: true }).value : null;
  postMessage({ id, html });
};
