// Small helpers for the page's elements. Texts become text nodes, never markup.

export const $ = (id) => document.getElementById(id);

// h("button", {class: "quiet", onclick: stop, "aria-label": "Stop"}, icon("stop"), "Stop")
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

// One of the symbols at the end of index.html.
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

export function button(name, label, onclick, more = {}) {
  return h(
    "button",
    { type: "button", class: "quiet icon-only", "aria-label": label, title: label, onclick, ...more },
    icon(name),
  );
}

// For screen readers: said once, politely.
export function announce(text) {
  $("status").textContent = text;
}

let toastTimer = 0;

export function toast(text) {
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (box.hidden = true), 4000);
}

// Copies, and shows it on the button that was pressed.
export async function copy(text, pressed) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyByHand(text)) return toast("The browser did not let the page copy");
  }
  const old = [...pressed.childNodes];
  pressed.replaceChildren(icon("check"));
  announce("Copied");
  setTimeout(() => pressed.replaceChildren(...old), 1500);
}

// A page from another machine without TLS has no clipboard of its own.
function copyByHand(text) {
  const area = h("textarea", { class: "sr" });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}
