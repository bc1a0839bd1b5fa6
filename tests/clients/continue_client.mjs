// Continue's own adapter for OpenAI-compatible servers (@continuedev/openai-adapters), unmodified, against `wick serve`: what its
// extension asks for, streamed and whole, errors, retries, cancellation. node_clients.py starts the server and calls it:
//
//   node continue_client.mjs http://127.0.0.1:PORT MODEL
import assert from "node:assert/strict";

import { constructLlmApi } from "@continuedev/openai-adapters";

import { cancelled, firstBusy, left } from "./servers.mjs";

const [url, model] = process.argv.slice(2);
const messages = [{ role: "system", content: "Be brief." }, { role: "user", content: "Name a river in France." }];
const greedy = { model, messages, temperature: 0, max_tokens: 12 };
const api = (base) => constructLlmApi({ provider: "openai", apiKey: "any", apiBase: `${base}/v1/` });
const wick = api(url);
const never = new AbortController().signal;

async function joined(stream, piece) {
  let text = "", usage = null;
  for await (const chunk of stream) {
    text += piece(chunk) ?? "";
    usage = chunk.usage ?? usage;
  }
  return [text, usage];
}

const whole = await wick.chatCompletionNonStream({ ...greedy, stream: false }, never);
const [text, usage] = await joined(wick.chatCompletionStream({ ...greedy, stream: true }, never), (chunk) => chunk.choices[0]?.delta.content);
assert.ok(text);
assert.equal(text, whole.choices[0].message.content);
assert.equal(usage.completion_tokens, whole.usage.completion_tokens);

const plain = { model, prompt: "Once upon", temperature: 0, max_tokens: 8 };
const completion = await wick.completionNonStream({ ...plain, stream: false }, never);
const [completed] = await joined(wick.completionStream({ ...plain, stream: true }, never), (chunk) => chunk.choices[0]?.text);
assert.equal(completed, completion.choices[0].text);

assert.equal((await wick.embed({ model, input: ["a", "b"] })).data.length, 2);
assert.ok((await wick.list()).some((one) => one.id === model));

await assert.rejects(wick.chatCompletionNonStream({ ...greedy, model: "nobody" }, never), { status: 404, code: "model_not_found" });
await assert.rejects(joined(wick.chatCompletionStream({ ...greedy, temperature: -1, stream: true }, never), () => ""),
                     { status: 400, code: "invalid_value" });

const busy = await firstBusy(url);
assert.equal((await api(busy.url).chatCompletionNonStream({ ...greedy, stream: false }, never)).choices[0].message.content, text);
assert.equal(busy.close(), 2);

const before = await cancelled(url);
const control = new AbortController();
const long = wick.chatCompletionStream({ ...greedy, max_tokens: 2000, ignore_eos: true, stream: true }, control.signal);
await joined((async function* () {
  for await (const chunk of long) {
    yield chunk;
    control.abort();
  }
})(), () => "").catch(() => {});
const waits = new AbortController();
setTimeout(() => waits.abort(), 200);
await assert.rejects(wick.chatCompletionNonStream({ ...greedy, max_tokens: 2000, ignore_eos: true, stream: false }, waits.signal));
await left(url, before + 2);
console.log(`Continue's adapter: ${JSON.stringify(text)}, whole and streamed`);
process.exit(0);  // its proxy agents would keep the process
