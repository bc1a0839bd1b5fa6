// The client of bench/against_gateways for an API that takes some time: how much of each request's time was not the API's own.
// The API (gateways_upstream.mjs) answers with the times (CLOCK_MONOTONIC, ns) at which it had the request and sent the answer.
//   node gateways_client.mjs URL CLIENTS SECONDS HEADERS BODY      prints {"us": [p50, p99], "requests": N, "errors": N}
import http from 'node:http';

const [url, clients, seconds, headers, body] = process.argv.slice(2);
const agent = new http.Agent({keepAlive: true, maxSockets: Number(clients)});
const options = {agent, method: 'POST', headers: {...JSON.parse(headers), 'Content-Length': Buffer.byteLength(body)}};
const times = [];
let errors = 0;

function ask() {
  return new Promise((resolve) => {
    const sent = process.hrtime.bigint();
    const failed = () => { ++errors; resolve(); };
    http.request(url, options, (response) => {
      let text = '';
      response.on('data', (piece) => { text += piece; });
      response.on('end', () => {
        const took = process.hrtime.bigint() - sent;
        const its = /"content":\s*"(\d+) (\d+)"/.exec(text);
        if (response.statusCode !== 200 || !its) return failed();
        times.push(Number(took - (BigInt(its[2]) - BigInt(its[1]))) / 1000);
        resolve();
      });
    }).on('error', failed).end(body);
  });
}

async function client(end) {
  while (process.hrtime.bigint() < end) await ask();
}

const run = (s) => Promise.all(Array.from({length: Number(clients)}, () => client(process.hrtime.bigint() + BigInt(Math.round(s * 1e9)))));
await run(0.3);  // connections, and code that has been compiled
times.length = errors = 0;
await run(Number(seconds));
times.sort((a, b) => a - b);
const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
console.log(JSON.stringify({us: [at(0.5), at(0.99)], requests: times.length, errors}));
process.exit(0);
