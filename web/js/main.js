// Brings the parts of the page together. Each part listens to the conversation and changes its own elements; none knows another.
import { $, announce, toast } from "./dom.js";
import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { Conversation } from "./conversation.js";
import { MessageList } from "./message_list.js";
import { Models } from "./models.js";
import { Settings } from "./settings.js";
import { Sidebar } from "./sidebar.js";
import { openStore } from "./store.js";

const store = await openStore();
const conversation = new Conversation(store);
const models = new Models(conversation);
const settings = new Settings(conversation);
const connection = new Connection(() => models.load());
new MessageList({ log: $("log"), box: $("messages"), toEnd: $("to-end"), conversation });
new Composer(conversation);
const sidebar = new Sidebar(conversation, { openNew });

function startNew() {
  conversation.startNew({ ...Settings.defaults(), model: localStorage.getItem("wick.model") ?? undefined });
  sidebar.chosen();
  $("prompt").focus();
}

function openNew() {
  history.pushState(null, "", location.pathname);
  startNew();
}

// The address names the chat: "#chat=ID".
async function openFromAddress() {
  const id = new URLSearchParams(location.hash.slice(1)).get("chat");
  const chat = id && (await store.chats()).find((one) => one.id === id);
  if (!chat) return startNew();
  if (conversation.chat?.id !== id) await conversation.open(chat);
  sidebar.chosen();
  $("prompt").focus();
}

const THEMES = ["system", "light", "dark"];

function nextTheme() {
  const old = document.documentElement.dataset.theme ?? "system";
  const theme = THEMES[(THEMES.indexOf(old) + 1) % THEMES.length];
  if (theme === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem("wick.theme");
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("wick.theme", theme);
  }
  $("theme").title = `Theme: ${theme}`;
  $("theme").setAttribute("aria-label", `Theme: ${theme}`);
  announce(`Theme: ${theme}`);
}

$("theme").addEventListener("click", nextTheme);
// Not by the address, which names the chat.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("prompt").focus();
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey)) return;
  if (event.key.toLowerCase() === "b") sidebar.toggle();
  else if (event.shiftKey && event.key.toLowerCase() === "o") openNew();
  else return;
  event.preventDefault();
});
conversation.addEventListener("run", ({ detail }) => {
  const address = `#chat=${conversation.chat.id}`;
  if (location.hash !== address && detail.chat.id === conversation.chat.id) history.replaceState(null, "", address);
  if (detail.message.error) connection.failed(detail.message.error);
});
addEventListener("hashchange", openFromAddress);

await openFromAddress();
if (!store.isKept) toast("This browser keeps no history here: the chats are gone when the page is closed");
await connection.begin();
