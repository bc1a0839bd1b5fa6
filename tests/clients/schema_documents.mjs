// ajv 8 as a judge of documents: a line of standard input is {"schema", "documents"}, one of the output {"valid", "invalid": [[document,
// error]…], "formats": {name: [count, an example]}}; formats: documents that only a format of ajv-formats refuses.
//
//   node schema_documents.mjs NODE_MODULES REGISTRY
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';

const [modules, registry] = process.argv.slice(2);
const need = createRequire(path.join(modules, 'package.json'));
const addFormats = need('ajv-formats');

// Before 2019-09 nothing counts beside $ref; ajv applies it.
function alone(value) {
  if (Array.isArray(value)) return value.map(alone);
  if (value === null || typeof value !== 'object') return value;
  const kept = typeof value.$ref === 'string' ? ['$ref', '$id', 'id', 'definitions'].filter(key => key in value) : Object.keys(value);
  return Object.fromEntries(kept.map(key => [key, alone(value[key])]));
}

async function stored(address) {
  const schema = JSON.parse(fs.readFileSync(path.join(registry, address.replace('http://localhost:1234/', '').replace(/#.*/, '')), 'utf8'));
  return prepared(schema);
}

function prepared({ $schema, ...rest }) {
  return /20(19-09|20-12)/.test($schema) ? rest : alone(rest);
}

function drafted(schema) {
  const draft = String(schema.$schema ?? '');
  for (const [name, its] of [['2020-12', 'ajv/dist/2020'], ['2019-09', 'ajv/dist/2019'], ['draft-04', 'ajv-draft-04']])
    if (draft.includes(name)) return need(its);
  return need('ajv');
}

function validator(schema, formats) {
  const Ajv = drafted(schema);
  const ajv = new Ajv({ strict: false, logger: false, loadSchema: stored, validateFormats: formats, allErrors: formats });
  if (formats) addFormats(ajv);
  return ajv.compileAsync(prepared(schema));
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { schema, documents } = JSON.parse(line);
  const out = { valid: 0, invalid: [], formats: {} };
  try {
    const strict = await validator(schema, true), loose = await validator(schema, false);
    for (const text of documents) {
      const value = JSON.parse(text);
      if (strict(value)) {
        ++out.valid;
        continue;
      }
      const named = new Set(strict.errors.filter(error => error.keyword === 'format').map(error => error.params.format));
      if (!named.size || !loose(value)) {
        out.invalid.push([text, JSON.stringify((loose.errors ?? strict.errors)[0])]);
        continue;
      }
      const error = strict.errors.find(each => each.keyword === 'format');
      const at = error.instancePath.split('/').slice(1).reduce((its, key) => its?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], value);
      (out.formats[[...named].sort().join(' ')] ??= [0, at])[0]++;
    }
  } catch (error) {
    out.error = String(error).slice(0, 200);
  }
  console.log(JSON.stringify(out));
}
