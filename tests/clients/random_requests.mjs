// 500 random requests of three APIs, each asked whole and as a stream: the joined stream is the whole answer (text, finish reasons,
// logprobs, usage), and each answer and chunk is valid by OpenAI's document and types. Four at a time, so that batches differ.
// node_clients.py calls it:
//
//   node random_requests.mjs http://127.0.0.1:PORT MODEL [REQUESTS]
import assert from "node:assert/strict";

import { check, checked, events, post } from "./openai_schemas.mjs";

const [url, model, requests = "500"] = process.argv.slice(2);

// mulberry32: the same requests each time.
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const words = "a river in France with the long name that ends near Köln 東京 😀 \n\t{\"x\": 1} <b> is it? 12345".split(" ");

function request(seed) {
  const draw = random(seed);
  const one = (list) => list[Math.floor(draw() * list.length)];
  const some = (chance, fields) => (draw() < chance ? fields : {});
  const text = Array.from({ length: 1 + Math.floor(draw() * 12) }, () => one(words)).join(" ");
  const sampling = { seed, temperature: one([0, 0.7, 1, 2]), ...some(0.3, { top_p: one([0.1, 0.9, 1]) }), ...some(0.2, { top_k: one([1, 5, 40]) }),
                     ...some(0.2, { frequency_penalty: one([-1, 0.5, 2]) }), ...some(0.2, { presence_penalty: 1 }),
                     ...some(0.2, { logit_bias: { 5: 20, 7: -100 } }), ...some(0.3, { stop: one([["the"], [" ", "e"], "\n"]) }) };
  const length = one([1, 2, 5, 12, 20]);
  const api = one(["/v1/chat/completions", "/v1/completions", "/v1/responses"]);
  if (api === "/v1/chat/completions") {
    return [api, { ...sampling, messages: [...(draw() < 0.5 ? [{ role: "system", content: "Be brief." }] : []), { role: "user", content: text }],
                   max_completion_tokens: length, n: one([1, 1, 2, 3]), ...some(0.6, { logprobs: true, top_logprobs: one([0, 1, 5]) }),
                   ...some(0.2, { response_format: { type: "json_object" } }) }];
  }
  if (api === "/v1/completions") {
    return [api, { ...sampling, prompt: draw() < 0.3 ? [text, one(words)] : text, max_tokens: length, n: one([1, 1, 2]),
                   ...some(0.6, { logprobs: one([0, 1, 3]) }) }];
  }
  const { seed: _, stop, logit_bias, frequency_penalty, presence_penalty, ...fields } = sampling;
  return [api, { ...fields, temperature: 0, input: text, max_output_tokens: length, store: false }];
}

// The second of two equal requests finds the prompt in the prefix cache: that one figure may differ.
const usageOf = ({ prompt_tokens_details, input_tokens_details, ...usage }) => usage;

const shapes = {
  "/v1/chat/completions": {
    whole: "chat", chunk: "chatChunk",
    of: (answer) => ({ usage: usageOf(answer.usage), choices: answer.choices.map((choice) => [choice.message.content ?? "", choice.finish_reason,
                                                                                               choice.logprobs?.content ?? []]) }),
    add: (choice, into) => { into[0] += choice.delta.content ?? ""; into[2].push(...(choice.logprobs?.content ?? [])); },
    empty: () => ["", null, []],
  },
  "/v1/completions": {
    whole: "completion", chunk: "completionChunk",
    of: (answer) => ({ usage: usageOf(answer.usage), choices: answer.choices.map((choice) => [choice.text, choice.finish_reason,
                                                                                               ...lists(choice.logprobs)]) }),
    add: (choice, into) => { into[0] += choice.text; lists(choice.logprobs).forEach((list, i) => into[2 + i].push(...list)); },
    empty: () => ["", null, [], [], [], []],
  },
};
const lists = (scores) => ["tokens", "token_logprobs", "top_logprobs", "text_offset"].map((name) => scores?.[name] ?? []);

function joinedChoices(shape, chunks, n) {
  const choices = Array.from({ length: n }, shape.empty);
  let usage = null;
  for (const chunk of chunks) {
    check(shape.chunk, chunk);
    usage = chunk.usage ?? usage;
    for (const choice of chunk.choices) {
      shape.add(choice, choices[choice.index]);
      choices[choice.index][1] ??= choice.finish_reason;
    }
  }
  return { usage: usageOf(usage), choices };
}

function ofResponse(answer) {
  check("response", answer);
  return { status: answer.status, usage: usageOf(answer.usage), text: answer.output.map((item) => item.content?.map((part) => part.text)) };
}

function joinedResponse(all) {
  let text = "";
  for (const event of all) {
    check("responseEvent", event);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  const last = ofResponse(all.at(-1).response);
  assert.equal(text, last.text.flat().join(""));
  return last;
}

async function compare(seed) {
  const [path, body] = request(seed);
  const [status, text] = await post(url + path, { model, ...body });
  assert.equal(status, 200, `${JSON.stringify(body)}: ${text}`);
  const options = path === "/v1/responses" ? {} : { stream_options: { include_usage: true } };
  const [, stream] = await post(url + path, { model, ...body, stream: true, ...options });
  const shape = shapes[path];
  const answer = JSON.parse(text);
  let whole, joined;
  if (shape) {
    check(shape.whole, answer);
    whole = shape.of(answer);
    joined = joinedChoices(shape, events(stream), answer.choices.length);
  } else {
    whole = ofResponse(answer);
    joined = joinedResponse(events(stream));
  }
  assert.deepEqual(joined, whole, JSON.stringify(body));
  return JSON.stringify(whole).length;
}

let next = 0, bytes = 0;
await Promise.all(Array.from({ length: 4 }, async () => {
  while (next < Number(requests)) {
    const more = await compare(next++);
    bytes += more;  // not across the await, where others add theirs
  }
}));
console.log(`${requests} random requests: the stream is the whole answer (${bytes} bytes compared); ${checked} valid answers and chunks`);
