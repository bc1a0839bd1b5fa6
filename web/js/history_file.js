// The history as a file: everything as JSON, which can be read again, or one chat as Markdown.
import { newId } from "./store.js";

const FORMAT = "wick-chats-1";

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const today = () => new Date().toISOString().slice(0, 10);

export async function exportAll(store) {
  const { chats, messages } = await store.everything();
  save(
    `wick-chats-${today()}.json`,
    "application/json",
    JSON.stringify({ format: FORMAT, exported: new Date().toISOString(), chats, messages }, null, 1),
  );
  return chats.length;
}

export function exportMarkdown(chat, path) {
  const parts = [`# ${chat.title}`];
  if (chat.system) parts.push(`**System:** ${chat.system}`);
  for (const { role, content, model } of path)
    parts.push(`## ${role === "user" ? "You" : model || "Assistant"}`, content);
  save(
    `${chat.title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 40) || "chat"}.md`,
    "text/markdown",
    parts.join("\n\n") + "\n",
  );
}

const isText = (value) => typeof value === "string";
const isChat = (chat) => isText(chat?.id) && isText(chat.title);
const isMessage = (message) =>
  isText(message?.id) &&
  isText(message.chat) &&
  isText(message.content) &&
  ["user", "assistant"].includes(message.role);

// What is as it should be of a file that anybody may have written; the rest is left out.
const text = (value) => (isText(value) ? value : undefined);
const number = (value) => (Number.isFinite(value) ? value : undefined);
const plain = (object) =>
  Object.fromEntries(Object.entries(object ?? {}).filter(([, value]) => isText(value) || Number.isFinite(value)));

function chatOf({ title, system, model, sampling, created, updated }) {
  const now = Date.now();
  return {
    title,
    system: text(system) ?? "",
    model: text(model),
    sampling: plain(sampling),
    created: number(created) ?? now,
    updated: number(updated) ?? now,
  };
}

function messageOf({ role, content, reasoning, model, finish, created, usage, timings, firstTokenMs }) {
  const counts = plain(usage);
  const isCounted = Number.isFinite(counts.prompt_tokens) && Number.isFinite(counts.completion_tokens);
  return {
    role,
    content,
    reasoning: text(reasoning),
    model: text(model),
    finish: text(finish),
    created: number(created) ?? Date.now(),
    usage: isCounted ? counts : undefined,
    timings: isCounted && Number.isFinite(timings?.predicted_per_second) ? plain(timings) : undefined,
    firstTokenMs: number(firstTokenMs),
  };
}

// Adds the chats of a file, each under a new id, so that nothing that is here is overwritten. Throws a sentence for the person.
export async function importFile(store, json) {
  let file;
  try {
    file = JSON.parse(json);
  } catch {
    throw new Error("This file is not JSON");
  }
  if (file?.format !== FORMAT || !Array.isArray(file.chats) || !Array.isArray(file.messages))
    throw new Error("This file is not a history that wick exported");
  if (!file.chats.every(isChat) || !file.messages.every(isMessage))
    throw new Error("A chat or message of this file is broken");
  const ids = new Map([...file.chats, ...file.messages].map(({ id }) => [id, newId()]));
  const chats = file.chats.map((chat) => ({ ...chatOf(chat), id: ids.get(chat.id), leaf: ids.get(chat.leaf) ?? null }));
  const messages = file.messages
    .filter((message) => ids.has(message.chat))
    .map((message) => {
      const [id, chat, parent] = [message.id, message.chat, message.parent].map((old) => ids.get(old) ?? null);
      return { ...messageOf(message), id, chat, parent };
    });
  await store.put({ chats, messages });
  return chats.length;
}
