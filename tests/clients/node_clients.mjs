// The official Node clients of OpenAI, Anthropic and Ollama, unmodified, against `wick serve`; and each answer and chunk against the
// types of OpenAI's client as JSON schemas (openai_types.ts), by ajv. node_clients.py starts the server and calls it:
//
//   node node_clients.mjs http://127.0.0.1:PORT MODEL schema.json
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import Anthropic from "@anthropic-ai/sdk";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { Ollama } from "ollama";
import OpenAI from "openai";

const [url, model, schemaFile] = process.argv.slice(2);
const messages = [{ role: "user", content: "Name a river in France." }];
const greedy = { model, messages, temperature: 0, max_tokens: 12 };
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 });

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(JSON.parse(readFileSync(schemaFile, "utf8")), "types");
let checked = 0;

// `answer` is what the type of openai_types.ts says; a union's errors are many, so the first few are told.
function check(name, answer) {
  const validate = ajv.getSchema(`types#/definitions/Answers/properties/${name}`);
  assert.ok(validate(answer), `${name}: ${JSON.stringify(validate.errors?.slice(0, 6))}\n${JSON.stringify(answer).slice(0, 2000)}`);
  checked++;
}

async function post(path, body) {
  const answer = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return [answer.status, await answer.text()];
}

const events = (text) => text.split("\n\n").map((block) => block.split("\n").find((line) => line.startsWith("data: ")))
  .filter((line) => line && line !== "data: [DONE]").map((line) => JSON.parse(line.slice(6)));

async function schemas() {
  for (const more of [{}, { logprobs: true, top_logprobs: 2 }, { n: 3, seed: 1, temperature: 1 }, { max_tokens: 1 }, { stop: ["a"] }]) {
    const [status, text] = await post("/v1/chat/completions", { ...greedy, ...more });
    assert.equal(status, 200, text);
    check("chat", JSON.parse(text));
    for (const options of [{}, { stream_options: { include_usage: true } }]) {
      const [, stream] = await post("/v1/chat/completions", { ...greedy, ...more, ...options, stream: true });
      for (const chunk of events(stream)) check("chatChunk", chunk);
    }
  }
  // Not with echo: the first token has no score, null as in OpenAI's own answers, and its types have no room for that.
  for (const more of [{}, { logprobs: 2 }, { n: 2 }, { stream: true, stream_options: { include_usage: true } }]) {
    const [status, text] = await post("/v1/completions", { model, prompt: ["Once upon", "The"], max_tokens: 4, ...more });
    assert.equal(status, 200, text);
    for (const answer of more.stream ? events(text) : [JSON.parse(text)]) check("completion", answer);
  }
  check("embeddings", JSON.parse((await post("/v1/embeddings", { model, input: ["a", "b"] }))[1]));
  const listed = await (await fetch(`${url}/v1/models`)).json();
  for (const one of listed.data) check("model", one);
  const input = { model, input: "Name a river in France.", max_output_tokens: 12 };
  const [status, text] = await post("/v1/responses", input);
  assert.equal(status, 200, text);
  check("response", JSON.parse(text));
  for (const event of events((await post("/v1/responses", { ...input, stream: true }))[1])) check("responseEvent", event);
  for (const [path, body] of [["/v1/chat/completions", { ...greedy, model: "nobody" }], ["/v1/chat/completions", { messages: 3 }],
                              ["/v1/chat/completions", { ...greedy, temperature: -1 }], ["/v1/nothing", {}]]) {
    check("error", JSON.parse((await post(path, body))[1]).error);
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

const cancelled = async () => Number(/^wick_http_requests_cancelled_total (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())[1]);

async function cancellation() {
  const before = await cancelled();
  const stream = await openai.chat.completions.create({ ...greedy, max_tokens: 2000, stream: true });
  for await (const _ of stream) break;  // leaves in the middle
  const control = new AbortController();
  const whole = openai.chat.completions.create({ ...greedy, max_tokens: 2000, temperature: 1.5 }, { signal: control.signal });
  setTimeout(() => control.abort(), 200);
  await assert.rejects(whole, OpenAI.APIUserAbortError);
  for (let i = 0; (await cancelled()) < before + 2; ++i) {
    assert.ok(i < 200, "the server does not notice that clients leave");
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function retries() {  // the client comes again by itself where the server is down for a moment: here its port is closed at first
  const { createServer } = await import("node:http");
  let asked = 0;
  const proxy = createServer(async (request, response) => {
    if (++asked === 1) return response.writeHead(503, { "retry-after": "1", "content-type": "application/json" })
      .end('{"error":{"message":"overloaded","type":"server_error","param":null,"code":"overloaded"}}');
    const parts = [];
    for await (const part of request) parts.push(part);
    const [status, text] = await post(request.url, JSON.parse(Buffer.concat(parts)));
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${proxy.address().port}/v1`, apiKey: "any" });
  assert.ok((await client.chat.completions.create(greedy)).choices[0].message.content);
  assert.equal(asked, 2);
  proxy.close();
  proxy.closeAllConnections();
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
await schemas();
console.log(`openai, anthropic and ollama for node ${process.version}: all as wanted; ${checked} answers and chunks are of OpenAI's types`);
