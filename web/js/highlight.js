// Colors of code blocks, by a worker. Code is there as plain text first; its colors come when they come, or never if they take too long.
import { sanitized } from "./markdown.js";

const MOST_CHARACTERS = 100_000;
const PATIENCE_MS = 2000;

// The policy of the page asks that each address of code is made in one place, here.
const address = new URL("./highlight_worker.js", import.meta.url).href;
const policy = globalThis.trustedTypes?.createPolicy("wick", { createScriptURL: () => address });

let worker = null;
let lastId = 0;
const waiting = new Map(); // id → what to do with the answer

function start() {
  worker = new Worker(policy ? policy.createScriptURL("") : address, { type: "module" });
  worker.onmessage = ({ data }) => {
    waiting.get(data.id)?.(data.html);
    waiting.delete(data.id);
  };
}

function giveUp(id) {
  if (!waiting.has(id)) return;
  worker.terminate(); // and with it what waits behind
  worker = null;
  for (const resolve of waiting.values()) resolve(null);
  waiting.clear();
}

function ask(code, name) {
  if (!worker) start();
  const id = ++lastId;
  return new Promise((resolve) => {
    const timer = setTimeout(giveUp, PATIENCE_MS, id);
    waiting.set(id, (html) => {
      clearTimeout(timer);
      resolve(html);
    });
    worker.postMessage({ id, code, name });
  });
}

// `element` is a <code> that holds its text alone. Stays as it is if it changed meanwhile.
export async function colorize(element, name) {
  const code = element.textContent;
  if (!name || code.length > MOST_CHARACTERS) return;
  const html = await ask(code, name);
  if (html !== null && element.textContent === code) element.replaceChildren(sanitized(html));
}
