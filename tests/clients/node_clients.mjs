// The official Node clients of OpenAI, Anthropic and Ollama, unmodified, against `wick serve`; and each answer and chunk against
// OpenAI's document and the types of its client, by ajv (openai_schemas.mjs). node_clients.py starts the server and calls it:
//
//   node node_clients.mjs http://127.0.0.1:PORT MODEL
import assert from "node:assert/strict";

import Anthropic from "@anthropic-ai/sdk";
import { Ollama } from "ollama";
import OpenAI from "openai";

import { check, checked, events, post } from "./openai_schemas.mjs";
import { cancelled, firstBusy, left } from "./servers.mjs";

const [url, model] = process.argv.slice(2);
const messages = [{ role: "user", content: "Name a river in France." }];
const greedy = { model, messages, temperature: 0, max_tokens: 12 };
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 });

const weather = { name: "weather", description: "The weather of a city.",
                  parameters: { type: "object", properties: { city: { type: "string", maxLength: 12 } }, required: ["city"], additionalProperties: false } };

// The check itself: what OpenAI's document forbids is refused.
async function refusals() {
  const chat = JSON.parse((await post(`${url}/v1/chat/completions`, greedy))[1]);
  check("chat", chat);
  for (const spoil of [(one) => delete one.choices[0].message.refusal, (one) => { one.choices[0].finish_reason = "ended"; },
                       (one) => { one.created = "now"; }, (one) => { one.usage.total_tokens = 1.5; }]) {
    const spoiled = structuredClone(chat);
    spoil(spoiled);
    assert.throws(() => check("chat", spoiled), /CreateChatCompletionResponse/);
  }
  assert.throws(() => check("responseEvent", { type: "response.created", sequence_number: 0 }), /ResponseCreatedEvent/);
}

async function toolSchemas() {
  const tools = [{ type: "function", function: weather }];
  for (const more of [{ tool_choice: "required" }, { tool_choice: "required", parallel_tool_calls: true, n: 2, seed: 3, temperature: 1 },
                      { tool_choice: "none" }, { logprobs: true, top_logprobs: 1 }]) {
    const body = { ...greedy, max_tokens: 60, tools, ...more };
    const [status, text] = await post(`${url}/v1/chat/completions`, body);
    assert.equal(status, 200, text);
    const answer = JSON.parse(text);
    check("chat", answer);
    if (more.tool_choice === "required") assert.equal(answer.choices[0].message.tool_calls[0].function.name, "weather");
    for (const chunk of events((await post(`${url}/v1/chat/completions`, { ...body, stream: true }))[1])) check("chatChunk", chunk);
  }
  const input = { model, input: "The weather in Paris?", max_output_tokens: 60, tools: [{ type: "function", ...weather }], tool_choice: "required" };
  const [status, text] = await post(`${url}/v1/responses`, input);
  assert.equal(status, 200, text);
  check("response", JSON.parse(text));
  assert.ok(JSON.parse(text).output.some((item) => item.type === "function_call"));
  for (const event of events((await post(`${url}/v1/responses`, { ...input, stream: true }))[1])) check("responseEvent", event);
}

async function schemas() {
  for (const more of [{}, { logprobs: true, top_logprobs: 2 }, { n: 3, seed: 1, temperature: 1 }, { max_tokens: 1 }, { stop: ["a"] }]) {
    const [status, text] = await post(`${url}/v1/chat/completions`, { ...greedy, ...more });
    assert.equal(status, 200, text);
    check("chat", JSON.parse(text));
    for (const options of [{}, { stream_options: { include_usage: true } }]) {
      const [, stream] = await post(`${url}/v1/chat/completions`, { ...greedy, ...more, ...options, stream: true });
      for (const chunk of events(stream)) check("chatChunk", chunk);
    }
  }
  // Not with echo: the first token has no score, null as in OpenAI's own answers, and its types have no room for that.
  for (const more of [{}, { logprobs: 2 }, { n: 2 }, { stream: true, stream_options: { include_usage: true } }]) {
    const [status, text] = await post(`${url}/v1/completions`, { model, prompt: ["Once upon", "The"], max_tokens: 4, ...more });
    assert.equal(status, 200, text);
    if (more.stream) for (const chunk of events(text)) check("completionChunk", chunk);
    else check("completion", JSON.parse(text));
  }
  check("embeddings", JSON.parse((await post(`${url}/v1/embeddings`, { model, input: ["a", "b"] }))[1]));
  check("models", await (await fetch(`${url}/v1/models`)).json());
  const input = { model, input: "Name a river in France.", max_output_tokens: 12 };
  const [status, text] = await post(`${url}/v1/responses`, input);
  assert.equal(status, 200, text);
  check("response", JSON.parse(text));
  for (const event of events((await post(`${url}/v1/responses`, { ...input, stream: true }))[1])) check("responseEvent", event);
  for (const [path, body] of [["/v1/chat/completions", { ...greedy, model: "nobody" }], ["/v1/chat/completions", { messages: 3 }],
                              ["/v1/chat/completions", { ...greedy, temperature: -1 }], ["/v1/nothing", {}]]) {
    check("error", JSON.parse((await post(url + path, body))[1]).error);
  }
}

async function chats() {
  const answer = await openai.chat.completions.create(greedy);
  const whole = answer.choices[0].message.content;
  assert.equal(answer.choices[0].finish_reason, "length");
  let text = "", usage = null;
  for await (const chunk of await openai.chat.completions.create({ ...greedy, stream: true, stream_options: { include_usage: true } })) {
    text += chunk.choices[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, whole);
  assert.equal(usage.completion_tokens, answer.usage.completion_tokens);
  const runner = openai.chat.completions.stream(greedy);
  assert.equal(await runner.finalContent(), whole);
  const several = await openai.chat.completions.create({ ...greedy, n: 3, seed: 1, logprobs: true, top_logprobs: 2 });
  assert.deepEqual(several.choices.map((choice) => choice.logprobs.content.length), [12, 12, 12]);
  return whole;
}

async function others(whole) {
  const text = await openai.completions.create({ model, prompt: "Once upon", max_tokens: 4, echo: true, logprobs: 1, temperature: 0 });
  assert.equal(text.choices[0].logprobs.tokens.join(""), text.choices[0].text);
  const coded = await openai.embeddings.create({ model, input: ["a", "b"] });
  const plain = await openai.embeddings.create({ model, input: ["a", "b"], encoding_format: "float" });
  coded.data[1].embedding.forEach((value, i) => assert.ok(Math.abs(value - plain.data[1].embedding[i]) < 1e-6));
  const first = await openai.responses.create({ model, input: messages[0].content, temperature: 0, max_output_tokens: 12 });
  assert.equal(first.output_text, whole);
  const stream = openai.responses.stream({ model, input: messages[0].content, temperature: 0, max_output_tokens: 12 });
  assert.equal((await stream.finalResponse()).output_text, whole);
  assert.ok((await openai.models.list()).data.some((one) => one.id === model));
}

async function errors() {
  const refused = (type, code, ask) => assert.rejects(ask, (error) => {
    assert.ok(error instanceof type, String(error));
    assert.equal(error.code, code);
    assert.ok(error.requestID);
    return true;
  });
  await refused(OpenAI.NotFoundError, "model_not_found", openai.chat.completions.create({ ...greedy, model: "gpt-5" }));
  await refused(OpenAI.BadRequestError, "context_length_exceeded", openai.chat.completions.create({ ...greedy, max_tokens: 10 ** 7 }));
  await refused(OpenAI.BadRequestError, "invalid_value", openai.chat.completions.create({ ...greedy, temperature: -1 }));
}

async function cancellation() {
  const before = await cancelled(url);
  const stream = await openai.chat.completions.create({ ...greedy, max_tokens: 2000, stream: true });
  for await (const _ of stream) break;  // leaves in the middle
  const control = new AbortController();
  // One that does not end by itself before that.
  const whole = openai.chat.completions.create({ ...greedy, max_tokens: 2000, ignore_eos: true }, { signal: control.signal });
  setTimeout(() => control.abort(), 200);
  await assert.rejects(whole, OpenAI.APIUserAbortError);
  await left(url, before + 2);
}

async function retries() {
  const busy = await firstBusy(url);
  const client = new OpenAI({ baseURL: `${busy.url}/v1`, apiKey: "any" });
  assert.ok((await client.chat.completions.create(greedy)).choices[0].message.content);
  assert.equal(busy.close(), 2);
}

async function anthropic(whole) {
  const client = new Anthropic({ baseURL: url, apiKey: "any", maxRetries: 0 });
  const fields = { model, max_tokens: 12, temperature: 0, messages };
  const answer = await client.messages.create(fields);
  assert.equal(answer.content[0].text, whole);
  assert.equal(answer.stop_reason, "max_tokens");
  const stream = client.messages.stream(fields);
  assert.equal(await stream.finalText(), whole);
  assert.ok((await client.messages.countTokens({ model, messages })).input_tokens > 0);
  await assert.rejects(client.messages.create({ ...fields, model: "nobody" }), Anthropic.NotFoundError);
}

async function ollama(whole) {
  const client = new Ollama({ host: url });
  const fields = { model, messages, options: { temperature: 0, num_predict: 12 } };
  assert.equal((await client.chat(fields)).message.content, whole);
  let text = "";
  for await (const part of await client.chat({ ...fields, stream: true })) text += part.message.content;
  assert.equal(text, whole);
  assert.equal((await client.embed({ model, input: ["a", "b"] })).embeddings.length, 2);
  assert.ok((await client.list()).models.some((one) => one.name === model));
  assert.ok((await client.ps()).models.length > 0);
  assert.ok((await client.show({ model })).details);
  await assert.rejects(client.chat({ ...fields, model: "nobody" }), /no model/);
  await assert.rejects(client.pull({ model: "smollm2-135m", stream: false }), { status_code: 403 });
}

const whole = await chats();
await others(whole);
await errors();
await cancellation();
await retries();
await anthropic(whole);
await ollama(whole);
await refusals();
await schemas();
await toolSchemas();
console.log(`openai, anthropic and ollama for node ${process.version}: all as wanted; ${checked} answers and chunks are valid by OpenAI's document and types`);
