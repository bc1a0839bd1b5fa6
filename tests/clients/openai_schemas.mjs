// Holds answers against the types of OpenAI's client (openai_types.ts), which ts-json-schema-generator has written as JSON schemas. What is
// relaxed has a name, here or there, and a reason.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import Ajv from "ajv";
import addFormats from "ajv-formats";

const schema = JSON.parse(readFileSync("schema.json", "utf8"));
// The client makes output_text itself, of the text of all items (its lib/ResponsesParser); it is on no wire.
schema.definitions.Response.required = schema.definitions.Response.required.filter((name) => name !== "output_text");
const eventSchemas = new Map(schema.definitions.ResponseStreamEvent.anyOf.map(({ $ref }) =>
  [schema.definitions[decodeURIComponent($ref.split("/").at(-1))].properties.type.const, `types${$ref}`]));
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(schema, "types");

export let checked = 0;

// `answer` is what the type of openai_types.ts says; an event, what the one of its name in the union says.
export function check(name, answer) {
  const validate = ajv.getSchema(name === "responseEvent" ? eventSchemas.get(answer.type) : `types#/definitions/Answers/properties/${name}`);
  assert.ok(validate(answer), `${name}: ${JSON.stringify(validate.errors?.slice(0, 6))}\n${JSON.stringify(answer).slice(0, 2000)}`);
  checked++;
}

// The status and the body, both as they are on the wire.
export async function post(url, body) {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return [answer.status, await answer.text()];
}

export const events = (text) => text.split("\n\n").map((block) => block.split("\n").find((line) => line.startsWith("data: ")))
  .filter((line) => line && line !== "data: [DONE]").map((line) => JSON.parse(line.slice(6)));
