// Markdown of a model to elements. What a model writes is hostile: its HTML is text (html: false), images are named instead of fetched,
// links go to http, https and mailto alone, and DOMPurify passes only the elements listed here. It comes last: nothing behind it makes
// elements from texts.
import markdownit from "../vendor/markdown.js";
import purify from "../vendor/purify.js";
import { math } from "./math.js";

const ELEMENTS = [
  "a",
  "blockquote",
  "br",
  "code",
  "del",
  "div",
  "em",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "li",
  "ol",
  "p",
  "pre",
  "s",
  "span",
  "strong",
  "table",
  "tbody",
  "td",
  "th",
  "thead",
  "tr",
  "ul",
];
const RULES = {
  ALLOWED_TAGS: ELEMENTS,
  ALLOWED_ATTR: ["class", "href", "start", "title"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true,
};

purify.addHook("afterSanitizeAttributes", (element) => {
  if (element.nodeName !== "A") return;
  element.setAttribute("target", "_blank");
  element.setAttribute("rel", "noopener noreferrer nofollow");
});

const md = markdownit({ html: false, linkify: true, breaks: true, maxNesting: 40 }).use(math);
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
md.validateLink = (url) => RULES.ALLOWED_URI_REGEXP.test(url.trim());

// The page may load no picture of a stranger: that would tell him that, and what, the person reads.
md.renderer.rules.image = (tokens, i, options, env, renderer) => {
  const text = renderer.renderInlineAsText(tokens[i].children, options, env) || "picture";
  const source = tokens[i].attrGet("src");
  const name = `<span class="picture">${md.utils.escapeHtml(text)}</span>`;
  return source ? `<a href="${md.utils.escapeHtml(source)}" title="A picture, which is not loaded">${name}</a>` : name;
};

// Alignment as a class: the page's policy allows no style in attributes.
for (const rule of ["th_open", "td_open"]) {
  md.renderer.rules[rule] = (tokens, i, options, env, renderer) => {
    const align = /text-align:(\w+)/.exec(tokens[i].attrGet("style") ?? "")?.[1];
    tokens[i].attrs = align ? [["class", `align-${align}`]] : null;
    return renderer.renderToken(tokens, i, options);
  };
}

const language = (token) => token.info.trim().split(/\s+/)[0].toLowerCase();
const pre = (name, code) =>
  `<pre><code class="language-${md.utils.escapeHtml(name)}">${md.utils.escapeHtml(code)}</code></pre>`;
md.renderer.rules.fence = (tokens, i) => pre(language(tokens[i]), tokens[i].content);
md.renderer.rules.code_block = (tokens, i) => pre("", tokens[i].content);

export const sanitized = (html) => purify.sanitize(html, RULES);

// The blocks of a text, each with its tokens and the line where it begins. `env` holds the link definitions seen so far.
export function blocksOf(text, env) {
  const blocks = [];
  let tokens = [];
  let depth = 0;
  for (const token of md.parse(text, env)) {
    if (depth === 0) blocks.push({ line: token.map?.[0] ?? 0, tokens: (tokens = []) });
    tokens.push(token);
    depth += token.nesting;
  }
  return blocks;
}

// A fragment of elements; `env` as for blocksOf.
export function elementsOf(blocks, env) {
  return sanitized(blocks.map((block) => md.renderer.render(block.tokens, md.options, env)).join(""));
}

// The code of a block that is nothing but a fence, else undefined.
export function fenceOf(block) {
  const token = block?.tokens[0];
  return token?.type === "fence" ? { name: language(token), code: token.content } : undefined;
}
