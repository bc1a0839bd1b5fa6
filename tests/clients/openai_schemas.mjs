// Validates answers against two descriptions of OpenAI's API, by ajv: the components of OpenAI's published OpenAPI document
// (tests/data/openai/components.json, written by tools/openai_components), and the types of OpenAI's client (openai_types.ts), which
// ts-json-schema-generator has written as JSON schemas. The document is the authority; the types are newer. Each exception has its reason,
// here or there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const schema = JSON.parse(readFileSync("schema.json", "utf8"));
// The client makes output_text itself, of the text of all items (its lib/ResponsesParser); it is on no wire.
schema.definitions.Response.required = schema.definitions.Response.required.filter((name) => name !== "output_text");
const eventSchemas = new Map(schema.definitions.ResponseStreamEvent.anyOf.map(({ $ref }) =>
  [schema.definitions[decodeURIComponent($ref.split("/").at(-1))].properties.type.const, `types${$ref}`]));
const types = new Ajv({ strict: false, allErrors: true });
addFormats(types);
types.addSchema(schema, "types");

// The document says OpenAPI 3.1, but has `nullable` of 3.0 still: null is allowed, also beside $ref and enum.
function withNull(part) {
  if (Array.isArray(part)) return part.map(withNull);
  if (part === null || typeof part !== "object") return part;
  const { nullable, ...rest } = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withNull(value)]));
  return nullable === true ? { anyOf: [rest, { type: "null" }] } : rest;
}

const { schemas } = withNull(JSON.parse(readFileSync("components.json", "utf8")));
// One component describes a whole text completion and its chunks, and has no null for what a chunk does not know yet. openai_types.ts has
// the reasons for these two.
const chunk = structuredClone(schemas.CreateCompletionResponse);
chunk.properties.usage = { anyOf: [chunk.properties.usage, { type: "null" }] };
chunk.properties.choices.items.properties.finish_reason.enum.push(null);
chunk.properties.choices.items.properties.finish_reason.type = ["string", "null"];
schemas.CompletionChunk = chunk;
const components = new Ajv2020({ strict: false, allErrors: true });
addFormats(components);
components.addFormat("unixtime", { type: "number", validate: Number.isInteger });
components.addSchema({ components: { schemas } }, "document");
const component = (name) => `document#/components/schemas/${name}`;
const answers = {
  chat: "CreateChatCompletionResponse", chatChunk: "CreateChatCompletionStreamResponse", completion: "CreateCompletionResponse",
  completionChunk: "CompletionChunk", embeddings: "CreateEmbeddingResponse", models: "ListModelsResponse", response: "Response", error: "Error",
};
const eventComponents = new Map(schemas.ResponseStreamEvent.anyOf.map(({ $ref }) => $ref.split("/").at(-1))
  .map((name) => [schemas[name].properties.type.enum[0], name]));

function hold(ajv, id, name, answer) {
  const validate = ajv.getSchema(id);
  assert.ok(validate, `no schema ${id}`);
  assert.ok(validate(answer), `${name}, ${id}: ${JSON.stringify(validate.errors?.slice(0, 6))}\n${JSON.stringify(answer).slice(0, 2000)}`);
}

export let checked = 0;

// `answer` is of the component and of the type of this name; an event, of those that its `type` names.
export function check(name, answer) {
  const isEvent = name === "responseEvent";
  hold(components, component(isEvent ? eventComponents.get(answer.type) : answers[name]), name, answer);
  hold(types, isEvent ? eventSchemas.get(answer.type) : `types#/definitions/Answers/properties/${name}`, name, answer);
  checked++;
}

// The status and the body, both as they are on the wire.
export async function post(url, body) {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return [answer.status, await answer.text()];
}

export const events = (text) => text.split("\n\n").map((block) => block.split("\n").find((line) => line.startsWith("data: ")))
  .filter((line) => line && line !== "data: [DONE]").map((line) => JSON.parse(line.slice(6)));
