// The choice of the model, and how much of its context the chat takes.
import * as api from "./api.js";
import { $, announce, h } from "./dom.js";
import { requestOf } from "./runs.js";

const ESTIMATE_AFTER_MS = 400;

export class Models {
  #list = [];
  #context = new Map(); // model → tokens
  #timer = 0;
  #asking = null;

  constructor(conversation) {
    this.conversation = conversation;
    $("model").addEventListener("change", () => this.#choose($("model").value));
    conversation.addEventListener("show", () => this.show());
    conversation.addEventListener("run", ({ detail }) => this.#answered(detail));
    $("prompt").addEventListener("input", () => this.measureSoon());
  }

  // Throws what the server says; main.js shows it.
  async load() {
    this.#list = await api.models();
    for (const { id, max_model_len: context } of this.#list) if (context > 0) this.#context.set(id, context);
    this.show();
  }

  get current() {
    const { chat } = this.conversation;
    const known = this.#list.find(({ id, aliases = [] }) => id === chat?.model || aliases.includes(chat?.model));
    return known ?? this.#list[0];
  }

  #choose(id) {
    this.conversation.chat.model = id;
    localStorage.setItem("wick.model", id);
    announce(`The next answer is of ${id}`);
    this.conversation.keep();
    this.show();
  }

  show() {
    const { chat } = this.conversation;
    if (!chat || this.#list.length === 0) return;
    if (!this.#list.includes(this.current) || !chat.model) chat.model = this.current?.id;
    $("model").replaceChildren(...this.#list.map(({ id }) => h("option", { value: id }, id)));
    $("model").value = this.current.id;
    $("model").title = this.current.id;
    this.#showContext();
    this.measureSoon();
  }

  // A model tells its context once it is loaded.
  async #answered(run) {
    if (!run.isOver) return;
    if (!this.#context.has(run.message.model) && !run.message.error) await this.load().catch(() => {});
    this.#showContext();
    this.measureSoon();
  }

  #showContext(estimate) {
    const usage = this.conversation.path.findLast((message) => message.usage)?.usage;
    const used = estimate?.prompt_tokens ?? (usage ? usage.prompt_tokens + usage.completion_tokens : 0);
    const whole = this.#context.get(this.current?.id);
    $("context").hidden = !whole || used === 0;
    if ($("context").hidden) return;
    const percent = Math.min(100, (100 * used) / whole);
    $("context").setAttribute("aria-valuenow", percent.toFixed(0));
    $("context").setAttribute("aria-valuetext", `${used} of ${whole} tokens`);
    $("context").title = `${used.toLocaleString("en")} of ${whole.toLocaleString("en")} tokens of context`;
    $("context").dataset.level = percent > 95 ? "full" : percent > 80 ? "high" : "low";
    $("context-arc").setAttribute("stroke-dasharray", `${percent} 100`);
    $("context-text").textContent = `${compact(used)} / ${compact(whole)}`;
  }

  // What the next request would take, a little after the last key; only of a model that is loaded, for asking would load it.
  measureSoon() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#timer = setTimeout(() => this.#measure(), ESTIMATE_AFTER_MS);
  }

  async #measure() {
    const { conversation } = this;
    const draft = $("prompt").value;
    $("draft-tokens").textContent = "";
    if (conversation.run || !this.#context.has(this.current?.id)) return;
    const messages = [...conversation.path, { role: "user", content: draft }].filter(({ content }) => content);
    if (messages.length === 0 || !draft.trim()) return this.#showContext();
    this.#asking = new AbortController();
    try {
      const estimate = await api.estimate(requestOf(conversation.chat, messages), this.#asking.signal);
      const fresh = estimate.prompt_tokens - estimate.cached_tokens;
      $("draft-tokens").textContent =
        `${estimate.prompt_tokens.toLocaleString("en")} tokens` +
        (estimate.cached_tokens > 0 ? `, ${fresh.toLocaleString("en")} of them new` : "");
      this.#showContext(estimate);
    } catch (error) {
      if (error instanceof api.ApiError && error.code === "context_length_exceeded")
        $("draft-tokens").textContent = "too long for the context";
    }
  }
}

function compact(n) {
  if (n < 10_000) return n.toLocaleString("en");
  return n < 1_000_000 ? `${Math.round(n / 1000)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}
