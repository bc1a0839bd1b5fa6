// What the tests of Node clients need of servers: one that is busy at first, and the count of clients that left.
import assert from "node:assert/strict";
import { createServer } from "node:http";

import { post } from "./openai_schemas.mjs";

// A server in front of `target` that answers the first request with 503 and passes on the others. close() says how many there were.
export async function firstBusy(target) {
  let asked = 0;
  const server = createServer(async (request, response) => {
    if (++asked === 1) {
      return response.writeHead(503, { "retry-after": "1", "content-type": "application/json" })
        .end('{"error":{"message":"overloaded","type":"server_error","param":null,"code":"overloaded"}}');
    }
    const parts = [];
    for await (const part of request) parts.push(part);
    const [status, text] = await post(target + request.url, JSON.parse(Buffer.concat(parts)));
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => {
    server.close();
    server.closeAllConnections();
    return asked;
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

export const cancelled = async (url) =>
  Number(/^wick_http_requests_cancelled_total (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())[1]);

// Until so many clients have left.
export async function left(url, wanted) {
  for (let i = 0; (await cancelled(url)) < wanted; ++i) {
    assert.ok(i < 200, "the server does not notice that clients leave");
    await new Promise((done) => setTimeout(done, 20));
  }
}
