// The list of chats, and what is done with all of them.
import { $, button, h, toast } from "./dom.js";
import { ask } from "./dialogs.js";
import { exportAll, exportMarkdown, importFile } from "./history_file.js";

const isNarrow = () => matchMedia("(max-width: 800px)").matches;
const DAY_MS = 24 * 60 * 60 * 1000;

function ageOf(time) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (time >= midnight) return "Today";
  if (time >= midnight - DAY_MS) return "Yesterday";
  return time >= midnight - 7 * DAY_MS ? "This week" : "Earlier";
}

export class Sidebar {
  constructor(conversation, { openNew }) {
    Object.assign(this, { conversation, openNew });
    $("new-chat").addEventListener("click", () => this.openNew());
    $("search").addEventListener("input", () => this.show());
    $("open-sidebar").addEventListener("click", () => this.toggle(true));
    $("close-sidebar").addEventListener("click", () => this.toggle(false));
    $("shade").addEventListener("click", () => this.toggle(false));
    $("sidebar").addEventListener("keydown", (event) => event.key === "Escape" && isNarrow() && this.toggle(false));
    $("chats").addEventListener("click", ({ target }) => target.closest("a") && this.chosen());
    conversation.addEventListener("chats", () => this.show());
    conversation.addEventListener("show", () => this.show());
    this.#historyMenu();
    this.#narrow();
    matchMedia("(max-width: 800px)").addEventListener("change", () => this.#narrow());
  }

  #narrow() {
    if (isNarrow()) this.toggle(false, false);
    else this.#set(localStorage.getItem("wick.sidebar") !== "closed");
  }

  #set(isOpen) {
    document.documentElement.dataset.sidebar = isOpen ? "open" : "closed";
    $("sidebar").inert = !isOpen;
    $("shade").hidden = !isOpen || !isNarrow();
  }

  toggle(isOpen = document.documentElement.dataset.sidebar === "closed", movesFocus = true) {
    this.#set(isOpen);
    if (!isNarrow()) localStorage.setItem("wick.sidebar", isOpen ? "open" : "closed");
    if (movesFocus) $(isOpen ? "close-sidebar" : "open-sidebar").focus();
  }

  // A chat was chosen: on a phone the list makes room for it.
  chosen() {
    if (isNarrow()) this.#set(false);
  }

  async show() {
    const chats = (await this.conversation.store.chats()).sort((a, b) => b.updated - a.updated);
    const wanted = $("search").value.trim().toLowerCase();
    const found = chats.filter(({ title }) => title.toLowerCase().includes(wanted));
    const rows = [];
    let age = "";
    for (const chat of found) {
      if (ageOf(chat.updated) !== age) rows.push(h("li", { class: "age" }, (age = ageOf(chat.updated))));
      rows.push(this.#row(chat));
    }
    if (rows.length === 0) rows.push(h("li", { class: "none" }, wanted ? "No chat has this title" : "No chats yet"));
    $("search").hidden = chats.length < 5 && !wanted;
    $("chats").replaceChildren(...rows);
    const { chat } = this.conversation;
    document.title = this.conversation.tree.size > 0 ? `${chat.title} – wick` : "wick";
  }

  #row(chat) {
    const { conversation } = this;
    const isShown = conversation.chat?.id === chat.id;
    return h(
      "li",
      { class: isShown ? "chat shown" : "chat" },
      h(
        "a",
        { href: `#chat=${chat.id}`, "aria-current": isShown ? "page" : undefined, title: chat.title },
        conversation.runs.has(chat.id) && h("i", { class: "busy", role: "img", "aria-label": "Answering" }),
        chat.title,
      ),
      button("edit", `Rename “${chat.title}”`, () => this.#rename(isShown ? conversation.chat : chat)),
      button("trash", `Delete “${chat.title}”`, () => this.#remove(chat)),
    );
  }

  async #rename(chat) {
    const answer = await ask({
      title: "Rename chat",
      yes: "Rename",
      fields: [{ name: "title", label: "Title", value: chat.title }],
    });
    if (answer?.title.trim()) await this.conversation.rename(chat, answer.title);
  }

  async #remove(chat) {
    if (
      !(await ask({
        title: "Delete this chat?",
        text: `“${chat.title}” is kept nowhere else.`,
        yes: "Delete",
        isDangerous: true,
      }))
    )
      return;
    await this.conversation.remove(chat);
    if (this.conversation.chat.id === chat.id) this.openNew();
  }

  #historyMenu() {
    const { conversation } = this;
    const { store } = conversation;
    const does = (id, what) =>
      $(id).addEventListener("click", () => {
        $("history-menu").hidePopover();
        what();
      });
    does("export-all", async () => toast(`${await exportAll(store)} chats exported`));
    does("export-chat", () => exportMarkdown(conversation.chat, conversation.path));
    does("import", () => $("file").click());
    does("delete-all", async () => {
      if (
        !(await ask({
          title: "Delete all chats?",
          text: "They are kept nowhere else.",
          yes: "Delete all",
          isDangerous: true,
        }))
      )
        return;
      for (const run of conversation.runs.values()) run.stop();
      await store.clear();
      this.openNew();
    });
    $("file").addEventListener("change", async () => {
      const [file] = $("file").files;
      $("file").value = "";
      if (!file) return;
      try {
        toast(`${await importFile(store, await file.text())} chats imported`);
      } catch (error) {
        toast(error.message);
      }
      this.show();
    });
  }
}
