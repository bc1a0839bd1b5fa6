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
const isOptional = (value, type) => value === undefined || value === null || typeof value === type;
const isChat = (chat) =>
  isText(chat?.id) &&
  isText(chat.title) &&
  isOptional(chat.system, "string") &&
  isOptional(chat.model, "string") &&
  isOptional(chat.sampling, "object");
const isMessage = (message) =>
  isText(message?.id) &&
  isText(message.chat) &&
  isText(message.content) &&
  isOptional(message.reasoning, "string") &&
  ["user", "assistant"].includes(message.role) &&
  isOptional(message.parent, "string") &&
  isOptional(message.error, "object");

// Adds the chats of a file, each under a new id, so that nothing that is here is overwritten. Throws a sentence for the person.
export async function importFile(store, text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error("This file is not JSON");
  }
  if (file?.format !== FORMAT || !Array.isArray(file.chats) || !Array.isArray(file.messages))
    throw new Error("This file is not a history that wick exported");
  if (!file.chats.every(isChat) || !file.messages.every(isMessage))
    throw new Error("A chat or message of this file is broken");
  const ids = new Map([...file.chats, ...file.messages].map(({ id }) => [id, newId()]));
  const now = Date.now();
  const time = (value) => (Number.isFinite(value) ? value : now);
  const chats = file.chats.map((chat) => ({
    ...chat,
    id: ids.get(chat.id),
    leaf: ids.get(chat.leaf) ?? null,
    created: time(chat.created),
    updated: time(chat.updated),
  }));
  const messages = file.messages
    .filter((message) => ids.has(message.chat))
    .map((message) => ({
      ...message,
      id: ids.get(message.id),
      chat: ids.get(message.chat),
      parent: ids.get(message.parent) ?? null,
      created: time(message.created),
      isOpen: undefined,
    }));
  await store.put({ chats, messages });
  return chats.length;
}
