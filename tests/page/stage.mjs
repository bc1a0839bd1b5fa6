// What the page's tests stand on: `wick serve` with tiny models, a browser, and a relay between them that can answer a chat by a script
// at a given pace, fail, or be gone. All else goes to the server, so what the page gets is the server's, headers included.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const wick = process.env.WICK ?? join(here, "../../build/release/wick");

// `wick serve` on a free port. Its models answer noise, at once, always the same.
export class Server {
  // The program, run to its end; what it prints.
  static run(...words) {
    return execFileSync(wick, words, { encoding: "utf8" });
  }

  static async start(...flags) {
    const server = new Server();
    server.folder = mkdtempSync(join(tmpdir(), "wick-page-"));
    const make = `import sys; sys.path.insert(0, sys.argv[1]); import tiny; f = sys.argv[2]
tiny.write_model(f + "/tiny.gguf", context=1 << 16); tiny.write_model(f + "/small.gguf", context=2048)`;
    execFileSync("python3", ["-c", make, join(here, "../cli"), server.folder]);
    const models = ["-m", join(server.folder, "tiny.gguf"), "-m", join(server.folder, "small.gguf")];
    server.process = spawn(wick, ["serve", ...models, "--port", "0", "--no-access-log", ...flags], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, HOME: server.folder, WICK_HOME: server.folder, XDG_CONFIG_HOME: server.folder },
    });
    server.address = await new Promise((resolve, reject) => {
      createInterface(server.process.stdout).on("line", (line) => resolve(/http:\S+/.exec(line)[0]));
      server.process.on("exit", () => reject(new Error("wick serve ended")));
    });
    return server;
  }

  async stop() {
    this.process.removeAllListeners("exit");
    const over = new Promise((resolve) => this.process.on("exit", resolve));
    this.process.kill("SIGTERM");
    await over;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// Between the page and the server. `script`: null, or (request) → {text, perSecond, reasoning, error, cut} instead of its answer.
export class Relay {
  script = null;
  change = (body) => body; // what becomes of a chat that the server answers
  requests = []; // bodies of chats
  open = 0; // scripted answers under way
  #sockets = new Set();

  static async start(target) {
    const relay = new Relay();
    relay.target = new URL(target);
    await relay.listen(0);
    return relay;
  }

  async listen(port) {
    this.server = http.createServer((request, response) => this.#take(request, response));
    this.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    this.port = this.server.address().port;
    this.address = `http://127.0.0.1:${this.port}/`;
  }

  // Gone, as a server that was killed.
  async stop() {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #take(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    let body = Buffer.concat(parts);
    if (request.url === "/v1/chat/completions") {
      const asked = JSON.parse(body);
      this.requests.push(asked);
      const told = this.script?.(asked);
      if (told) return this.#tell(told, response);
      body = JSON.stringify(this.change(asked));
    }
    const headers = { ...request.headers, host: this.target.host };
    if (body.length > 0) headers["content-length"] = Buffer.byteLength(body);
    if (headers.origin) headers.origin = this.target.origin;
    const passed = http.request(
      { host: this.target.hostname, port: this.target.port, path: request.url, method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    passed.end(body);
  }

  async #tell({ text = "", reasoning = "", perSecond = Infinity, size = 4, error, cut = false }, response) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    const write = (data) =>
      response.write(
        `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "tiny", ...data })}\n\n`,
      );
    const piece = (delta, finish_reason = null) => write({ choices: [{ index: 0, delta, finish_reason }] });
    this.open++;
    response.on("close", () => this.open--);
    const pieces = (whole) =>
      [...whole].reduce((all, letter, i) => (i % size ? (all[all.length - 1] += letter) : all.push(letter), all), []);
    const all = [
      ...pieces(reasoning).map((part) => ({ reasoning_content: part })),
      ...pieces(text).map((part) => ({ content: part })),
    ];
    const began = performance.now();
    for (let i = 0; i < all.length && !response.destroyed; i++) {
      const wait = began + (1000 * i) / perSecond - performance.now();
      if (wait > 0) await sleep(wait);
      piece(all[i]);
    }
    if (cut) return void setTimeout(() => response.destroy(), 50); // behind what was written
    if (error) write({ error });
    else {
      piece({}, "stop");
      const usage = { prompt_tokens: 20, completion_tokens: all.length, total_tokens: 20 + all.length };
      write({
        choices: [],
        usage,
        timings: { predicted_n: all.length, predicted_per_second: Math.min(perSecond, 1000), predicted_ms: 1000 },
      });
    }
    response.end("data: [DONE]\n\n");
  }
}

export const openBrowser = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });

// A page of a new browser profile. What goes wrong in it is kept in `page.faults`, what leaves for another host in `page.strays`.
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  page.faults = [];
  page.strays = [];
  page.on("pageerror", (error) => page.faults.push(error.stack));
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on(
    "request",
    (request) => !/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url()) && page.strays.push(request.url()),
  );
  await page.goto(address);
  await page.waitForFunction(
    () =>
      document.querySelector("#model option")?.value !== "" &&
      document.querySelector("#model").options[0]?.text !== "…",
  );
  return page;
}
