// What stands between the page and the server: a key that is wanted, a server that is gone and comes back.
import * as api from "./api.js";
import { $, toast } from "./dom.js";
import { ask } from "./dialogs.js";

const AGAIN_MS = 2000;

export class Connection {
  #isWaiting = false;
  #isAsking = false;

  // `reconnect` is called once the server is there, or has a key; it may throw.
  constructor(reconnect) {
    this.reconnect = reconnect;
  }

  async begin() {
    try {
      await this.reconnect();
      $("banner").hidden = true;
    } catch (error) {
      if (!this.failed(error)) toast(error.message);
    }
  }

  // An error of any call; false if it is not about the connection.
  failed({ status, message, isUnreachable }) {
    if (status === 401 || status === 403) this.#askForKey(message);
    else if (isUnreachable) this.#wait();
    else return false;
    return true;
  }

  async #askForKey(message) {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const answer = await ask({
      title: "This server wants a key",
      text: message ?? "",
      yes: "Go on",
      fields: [
        { name: "key", label: "API key", type: "password", placeholder: "sk-wick-…" },
        { name: "isRemembered", label: "Remember it in this browser", type: "checkbox" },
      ],
    });
    this.#isAsking = false;
    if (answer === null)
      return this.#say("This server answers only with a key.", "Enter a key", () => this.#askForKey());
    api.key.set(answer.key.trim(), answer.isRemembered);
    await this.begin();
  }

  #say(text, action, does) {
    const button = document.createElement("button");
    button.textContent = action;
    button.addEventListener("click", does);
    $("banner").replaceChildren(text, " ", button);
    $("banner").hidden = false;
  }

  async #wait() {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#say("The server does not answer. The page tries again every two seconds.", "Try now", () => this.#look());
    this.timer = setInterval(() => this.#look(), AGAIN_MS);
  }

  async #look() {
    if (!(await api.isHealthy()) || !this.#isWaiting) return;
    this.#isWaiting = false;
    clearInterval(this.timer);
    $("banner").hidden = true;
    toast("The server is back");
    await this.begin();
  }
}
