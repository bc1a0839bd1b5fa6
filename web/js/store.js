// Chats and their messages, in the browser's IndexedDB and nowhere else. Where the browser has none (some private windows), in
// memory until the page is closed.
//
//   chat     {id, title, created, updated, model, system, sampling, leaf}      leaf: the message at the end of what is shown
//   message  {id, chat, parent, role, content, reasoning, created, …}          a tree: messages of one parent are branches

const asPromise = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export const newId = () =>
  crypto.getRandomValues(new Uint32Array(4)).reduce((text, n) => text + n.toString(36).padStart(7, "0"), "");

export async function openStore() {
  try {
    const request = indexedDB.open("wick", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("chats", { keyPath: "id" });
      request.result.createObjectStore("messages", { keyPath: "id" }).createIndex("chat", "chat");
    };
    return new Store(await asPromise(request));
  } catch {
    return new MemoryStore();
  }
}

class Store {
  isKept = true;

  constructor(db) {
    this.db = db;
  }

  #all(mode) {
    const transaction = this.db.transaction(["chats", "messages"], mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
    return { chats: transaction.objectStore("chats"), messages: transaction.objectStore("messages"), done };
  }

  chats() {
    return asPromise(this.#all("readonly").chats.getAll());
  }

  messages(chatId) {
    return asPromise(this.#all("readonly").messages.index("chat").getAll(chatId));
  }

  async everything() {
    const { chats, messages } = this.#all("readonly");
    const [allChats, allMessages] = await Promise.all([asPromise(chats.getAll()), asPromise(messages.getAll())]);
    return { chats: allChats, messages: allMessages };
  }

  async put({ chats = [], messages = [] }) {
    const all = this.#all("readwrite");
    for (const chat of chats) all.chats.put(chat);
    for (const message of messages) all.messages.put(message);
    await all.done;
  }

  async remove(chatId, messageIds = []) {
    const all = this.#all("readwrite");
    if (messageIds.length === 0) {
      all.chats.delete(chatId);
      messageIds = await asPromise(all.messages.index("chat").getAllKeys(chatId));
    }
    for (const id of messageIds) all.messages.delete(id);
    await all.done;
  }

  async clear() {
    const all = this.#all("readwrite");
    all.chats.clear();
    all.messages.clear();
    await all.done;
  }
}

class MemoryStore {
  isKept = false;
  #chats = new Map();
  #messages = new Map();

  chats = async () => [...this.#chats.values()];
  messages = async (chatId) => [...this.#messages.values()].filter((message) => message.chat === chatId);
  everything = async () => ({ chats: [...this.#chats.values()], messages: [...this.#messages.values()] });

  async put({ chats = [], messages = [] }) {
    for (const chat of chats) this.#chats.set(chat.id, chat);
    for (const message of messages) this.#messages.set(message.id, message);
  }

  async remove(chatId, messageIds = []) {
    if (messageIds.length === 0) {
      this.#chats.delete(chatId);
      messageIds = (await this.messages(chatId)).map((message) => message.id);
    }
    for (const id of messageIds) this.#messages.delete(id);
  }

  async clear() {
    this.#chats.clear();
    this.#messages.clear();
  }
}
