// Answers under way. Each fills a message of its own and goes on when another chat is shown; the page keeps what has come once a second
// and at the end.
import * as api from "./api.js";

const KEEP_EVERY_MS = 1000;

// What a chat's settings ask for, beside the messages.
export function requestOf(chat, messages) {
  const { stop, ...sampling } = chat.sampling ?? {};
  const request = { model: chat.model || undefined, ...sampling, messages: [] };
  if (typeof stop === "string" && stop.trim()) request.stop = stop.split("\n").filter((line) => line !== "");
  if (chat.system?.trim()) request.messages.push({ role: "system", content: chat.system });
  for (const { role, content } of messages) if (content) request.messages.push({ role, content });
  return request;
}

export class Run extends EventTarget {
  isOver = false;
  #abort = new AbortController();
  #began = performance.now();
  #first = 0; // when the first piece came
  #kept = 0; // when the message was

  constructor(store, message, request) {
    super();
    Object.assign(this, { store, message, request, pieces: 0 });
  }

  stop() {
    this.#abort.abort();
  }

  async go() {
    const { message } = this;
    try {
      for await (const chunk of api.chat(
        { ...this.request, wick: { timings: true, parameters: true } },
        this.#abort.signal,
      )) {
        this.#take(chunk);
      }
    } catch (error) {
      if (this.#abort.signal.aborted) message.finish = "stopped";
      else
        message.error = {
          message: error.message,
          code: error.code,
          status: error.status,
          isUnreachable: error.isUnreachable,
        };
    }
    if (this.pieces > 1 && !message.timings)
      message.speed = (1000 * (this.pieces - 1)) / (performance.now() - this.#first);
    this.isOver = true;
    delete message.isOpen;
    await this.#keep().catch(() => {});
    this.dispatchEvent(new Event("end"));
  }

  #take(chunk) {
    const { message } = this;
    const choice = chunk.choices[0];
    const delta = choice?.delta ?? {};
    const text = delta.content ?? "";
    const reasoning = delta.reasoning_content ?? "";
    if (text || reasoning) {
      if (this.pieces++ === 0) {
        this.#first = performance.now();
        message.firstTokenMs = this.#first - this.#began;
      }
      message.content += text;
      if (reasoning) message.reasoning = (message.reasoning ?? "") + reasoning;
    }
    if (choice?.finish_reason) message.finish = choice.finish_reason;
    if (chunk.model) message.model = chunk.model;
    if (chunk.usage) message.usage = chunk.usage;
    if (chunk.timings) message.timings = chunk.timings;
    if (chunk.wick?.parameters) message.parameters = chunk.wick.parameters;
    this.dispatchEvent(new Event("change"));
    if (performance.now() - this.#kept > KEEP_EVERY_MS) this.#keep().catch(() => {});
  }

  #keep() {
    this.#kept = performance.now();
    return this.store.put({ messages: [this.message] });
  }
}
