// The chat that is shown: its messages, and what can be done to them. Events: "show" (another path of messages is to be shown),
// "grow" (a message came at its end), "run" (an answer began or ended), "chats" (the list of chats changed).
import { newId } from "./store.js";
import { Tree } from "./tree.js";
import { Run, requestOf } from "./runs.js";

const TITLE_LENGTH = 60;

function titleOf(text) {
  const line = text.trim().split("\n")[0].trim();
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1)}…` : line || "New chat";
}

export class Conversation extends EventTarget {
  chat = null;
  tree = new Tree();
  runs = new Map(); // chat's id → Run
  #opening = 0; // how often a chat was opened; an older one that comes late is dropped

  constructor(store) {
    super();
    this.store = store;
  }

  get path() {
    return this.tree.path(this.chat.leaf);
  }

  get run() {
    return this.runs.get(this.chat.id);
  }

  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }

  // A chat that is kept from its first message on.
  startNew(defaults) {
    this.#opening++;
    this.chat = {
      id: newId(),
      title: "New chat",
      created: Date.now(),
      updated: Date.now(),
      system: "",
      sampling: {},
      leaf: null,
      ...defaults,
    };
    this.tree = new Tree();
    this.#tell("show");
  }

  async open(chat) {
    const opening = ++this.#opening;
    const messages = await this.store.messages(chat.id);
    if (opening !== this.#opening) return;
    const run = this.runs.get(chat.id);
    this.chat = run?.chat ?? chat;
    this.tree = run?.tree ?? new Tree(messages);
    this.#tell("show");
  }

  async keep() {
    if (this.tree.size > 0) await this.store.put({ chats: [this.chat] });
  }

  async #add(message) {
    this.tree.add(message);
    this.chat.leaf = message.id;
    this.chat.updated = Date.now();
    if (this.tree.size === 1) this.chat.title = titleOf(message.content);
    this.#tell("chats");
    await this.store.put({ chats: [this.chat], messages: [message] });
  }

  #message(role, parent, content = "") {
    return { id: newId(), chat: this.chat.id, parent, role, content, created: Date.now() };
  }

  async send(text) {
    if (this.run) return;
    const message = this.#message("user", this.chat.leaf, text);
    const isKept = this.#add(message);
    this.#tell("grow", message);
    await Promise.all([isKept, this.#answer(message.id)]);
  }

  // Another text in place of one that was sent, as a branch beside it.
  async edit(id, text) {
    if (this.run) return;
    const message = this.#message("user", this.tree.get(id).parent, text);
    const isKept = this.#add(message);
    this.#tell("show", { end: true });
    await Promise.all([isKept, this.#answer(message.id)]);
  }

  // Another answer beside this one; one that failed with nothing said goes.
  async retry(id) {
    if (this.run) return;
    const { parent, content, reasoning } = this.tree.get(id);
    if (!content && !reasoning) {
      this.tree.remove(id);
      await this.store.remove(this.chat.id, [id]);
    }
    this.chat.leaf = parent;
    this.#tell("show", { end: true });
    await this.#answer(parent);
  }

  async #answer(parent) {
    const { chat, tree } = this;
    const request = requestOf(chat, tree.path(parent));
    const message = { ...this.#message("assistant", parent), model: chat.model, created: Date.now() + 1, isOpen: true };
    const run = new Run(this.store, message, request);
    Object.assign(run, { chat, tree });
    this.runs.set(chat.id, run);
    const isKept = this.#add(message);
    this.#tell("grow", message);
    this.#tell("run", run);
    run.addEventListener("end", () => {
      this.runs.delete(chat.id);
      this.#tell("run", run);
      this.#tell("chats");
    });
    await Promise.all([isKept, run.go()]);
  }

  stop() {
    this.run?.stop();
  }

  // Shows the branch that `id` is on, to its newest message.
  async pick(id) {
    if (this.run) return;
    this.chat.leaf = this.tree.newestLeaf(id);
    this.#tell("show", { keep: id });
    await this.keep();
  }

  async rename(chat, title) {
    chat.title = titleOf(title);
    await this.store.put({ chats: [chat] });
    this.#tell("chats");
  }

  async remove(chat) {
    this.runs.get(chat.id)?.stop();
    await this.store.remove(chat.id);
    this.#tell("chats");
  }
}
