// Formulas stay text: what stands between $…$, $$…$$, \(…\) or \[…\] is shown as it was written, in letters of its own, and no
// underscore of it becomes emphasis. A plugin of markdown-it.

const PAIRS = [
  ["$$", "$$"],
  ["\\[", "\\]"],
  ["\\(", "\\)"],
  ["$", "$"],
];
const BLOCK_LINES = 200; // a formula that is longer is none

// A single $ is a formula's only beside a letter or sign of it, and not between amounts: "$5 to $10".
function isFormula(open, body, after) {
  if (body.trim() === "") return false;
  return open !== "$" || (!/^\s|\s$|\n\n/.test(body) && !/\d/.test(after));
}

function inline(state, isSilent) {
  const { src, pos } = state;
  if (src[pos] !== "$" && src[pos] !== "\\") return false;
  for (const [open, close] of PAIRS) {
    if (!src.startsWith(open, pos)) continue;
    const end = src.indexOf(close, pos + open.length);
    if (end < 0 || end + close.length > state.posMax) continue;
    const body = src.slice(pos + open.length, end);
    if (!isFormula(open, body, src[end + close.length] ?? "")) continue;
    if (!isSilent) state.push("math_inline", "span", 0).content = body.trim();
    state.pos = end + close.length;
    return true;
  }
  return false;
}

function block(state, first, last, isSilent) {
  const line = (n) => state.src.slice(state.bMarks[n] + state.tShift[n], state.eMarks[n]);
  const pair = PAIRS.slice(0, 2).find(([open]) => line(first).startsWith(open));
  if (!pair || state.sCount[first] - state.blkIndent >= 4) return false;
  const lines = [];
  for (let n = first; n < last && n < first + BLOCK_LINES; n++) {
    const text = n === first ? line(n).slice(2) : line(n);
    const end = text.indexOf(pair[1]);
    if (end < 0) {
      lines.push(text);
      continue;
    }
    if (text.slice(end + 2).trim() !== "") return false; // text goes on behind it: a part of a paragraph
    if (isSilent) return true;
    lines.push(text.slice(0, end));
    const token = state.push("math_block", "div", 0);
    token.content = lines.join("\n").trim();
    token.map = [first, n + 1];
    state.line = n + 1;
    return true;
  }
  return false;
}

export function math(md) {
  md.inline.ruler.before("escape", "math_inline", inline);
  md.block.ruler.before("fence", "math_block", block, { alt: ["paragraph", "blockquote", "list"] });
  md.renderer.rules.math_inline = (tokens, i) => `<span class="math">${md.utils.escapeHtml(tokens[i].content)}</span>`;
  md.renderer.rules.math_block = (tokens, i) => `<div class="math">${md.utils.escapeHtml(tokens[i].content)}</div>`;
}
