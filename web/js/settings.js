// The settings of the chat that is shown: system prompt and samplers. What is empty is the server's choice; beside each stands what
// was in effect for the last answer, and where it came from.
import { $, announce, h, toast } from "./dom.js";
import { short } from "./facts.js";

// The name in requests and in the server's report, label, least, most, step, what it does.
const SAMPLERS = [
  ["temperature", "Temperature", 0, 100, 0.05, "0: always the likeliest token; higher: more surprises"],
  ["top_p", "Top P", 0, 1, 0.01, "the likeliest tokens that together have this probability"],
  ["top_k", "Top K", -1, 1e6, 1, "so many of the likeliest tokens; 0: all"],
  ["min_p", "Min P", 0, 1, 0.01, "tokens at least this likely, beside the likeliest"],
  ["max_tokens", "Max tokens", 1, 1e7, 1, "of the answer"],
];
const MORE = [
  ["seed", "Seed", -1, Number.MAX_SAFE_INTEGER, 1, "the same seed, the same answer; -1: random"],
  ["repeat_penalty", "Repeat penalty", 0.01, 100, 0.01, "above 1: less repetition"],
  ["repeat_last_n", "Repeat window", -1, 1e6, 1, "tokens that it looks back; -1: all"],
  ["presence_penalty", "Presence penalty", -2, 2, 0.1, "against words that were said"],
  ["frequency_penalty", "Frequency penalty", -2, 2, 0.1, "the same, by how often"],
  ["typical_p", "Typical P", 0, 1, 0.01, "tokens that surprise as much as expected"],
  ["top_n_sigma", "Top n sigma", -1, 100, 0.1, "tokens within n standard deviations; -1: off"],
  ["dry_multiplier", "DRY", 0, 1000, 0.1, "against repeated passages; 0: off"],
  ["xtc_probability", "XTC probability", 0, 1, 0.05, "how often the likeliest tokens are left out"],
  ["xtc_threshold", "XTC threshold", 0, 1, 0.05, "which ones: those above it"],
  ["dynatemp_range", "Temperature range", 0, 100, 0.1, "the temperature goes by the entropy"],
  ["mirostat", "Mirostat", 0, 2, 1, "0: off; 1 and 2: its versions"],
];

export class Settings {
  #rows = new Map(); // name → {input, effect}

  constructor(conversation) {
    this.conversation = conversation;
    $("samplers").append(...SAMPLERS.map((row) => this.#row(row)), this.#thinking(), this.#stops());
    $("more-samplers").append(...MORE.map((row) => this.#row(row)));
    $("system").addEventListener("input", () => {
      conversation.chat.system = $("system").value;
      this.#changed();
    });
    $("reset-settings").addEventListener("click", () => this.#reset());
    $("keep-settings").addEventListener("click", () => {
      const { system, sampling } = conversation.chat;
      localStorage.setItem("wick.defaults", JSON.stringify({ system, sampling }));
      toast("New chats begin with these settings");
    });
    $("open-settings").addEventListener("click", () => this.toggle());
    $("close-settings").addEventListener("click", () => this.toggle(false));
    $("settings").addEventListener("keydown", (event) => event.key === "Escape" && this.toggle(false));
    conversation.addEventListener("show", () => this.show());
    conversation.addEventListener("run", () => this.showEffects());
  }

  static defaults() {
    try {
      return JSON.parse(localStorage.getItem("wick.defaults")) ?? {};
    } catch {
      return {};
    }
  }

  #row([name, label, min, max, step, help]) {
    const id = `sampler-${name}`;
    const input = h("input", {
      id,
      type: "number",
      min,
      max,
      step: "any",
      inputmode: "decimal",
      placeholder: "server's",
      "aria-describedby": `${id}-help`,
    });
    const effect = h("span", { class: "effect" });
    input.addEventListener("input", () => {
      input.setAttribute("aria-invalid", !input.validity.valid);
      this.#set(name, input.value === "" || !input.validity.valid ? undefined : Number(input.value));
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      const now = Number(input.value || input.dataset.effect || 0);
      const next = Math.min(max, Math.max(min, now + (event.key === "ArrowUp" ? step : -step)));
      input.value = String(Number(next.toFixed(4)));
      input.dispatchEvent(new Event("input"));
    });
    this.#rows.set(name, { input, effect });
    return h(
      "div",
      { class: "sampler" },
      h("label", { for: id }, label),
      input,
      h("span", { class: "help", id: `${id}-help` }, help),
      effect,
    );
  }

  #thinking() {
    const options = [
      ["", "server's"],
      ["none", "off"],
      ["low", "low"],
      ["medium", "medium"],
      ["high", "high"],
    ];
    const input = h(
      "select",
      { id: "sampler-thinking" },
      ...options.map(([value, label]) => h("option", { value }, label)),
    );
    input.addEventListener("change", () => this.#set("reasoning_effort", input.value || undefined));
    this.#rows.set("reasoning_effort", { input, effect: h("span") });
    return h(
      "div",
      { class: "sampler" },
      h("label", { for: "sampler-thinking" }, "Thinking"),
      input,
      h("span", { class: "help" }, "where the model can"),
    );
  }

  #stops() {
    const input = h("textarea", { id: "sampler-stop", rows: "1", placeholder: "none" });
    input.addEventListener("input", () => this.#set("stop", input.value || undefined));
    this.#rows.set("stop", { input, effect: h("span") });
    return h(
      "div",
      { class: "sampler" },
      h("label", { for: "sampler-stop" }, "Stop sequences"),
      input,
      h("span", { class: "help" }, "texts that end the answer, one a line, up to 4"),
    );
  }

  #set(name, value) {
    const { chat } = this.conversation;
    const { [name]: old, ...others } = chat.sampling;
    chat.sampling = value === undefined ? others : { ...others, [name]: value };
    this.#changed();
  }

  #changed() {
    const { chat } = this.conversation;
    $("open-settings").classList.toggle("set", Boolean(chat.system) || Object.keys(chat.sampling).length > 0);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.conversation.keep(), 300);
  }

  #reset() {
    Object.assign(this.conversation.chat, { system: "", sampling: {} });
    this.#changed();
    this.show();
    announce("Settings are the server's again");
  }

  toggle(isOpen = $("settings").hidden) {
    $("settings").hidden = !isOpen;
    $("open-settings").setAttribute("aria-expanded", isOpen);
    (isOpen ? $("system") : $("open-settings")).focus();
  }

  show() {
    const { chat } = this.conversation;
    chat.sampling ??= {};
    $("system").value = chat.system ?? "";
    for (const [name, { input }] of this.#rows) {
      input.value = chat.sampling[name] ?? "";
      input.removeAttribute("aria-invalid");
    }
    $("open-settings").classList.toggle("set", Boolean(chat.system) || Object.keys(chat.sampling).length > 0);
    this.showEffects();
  }

  showEffects() {
    const told = this.conversation.path.findLast(({ parameters }) => parameters)?.parameters ?? {};
    for (const [name, { input, effect }] of this.#rows) {
      const { value, origin } = told[name] ?? {};
      const text = typeof value === "number" ? short(value) : value;
      effect.textContent = text === undefined ? "" : `${text} · ${origin}`;
      if (input.type !== "number") continue;
      input.placeholder = text ?? "server's";
      input.dataset.effect = typeof value === "number" ? value : "";
    }
  }
}
