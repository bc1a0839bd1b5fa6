// How fast the page is: its first paint, its size, and that a long history with a quick answer never holds it up.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser, openPage, Relay, Server, sleep } from "./stage.mjs";

const FIRST_PAINT_MS = 300;
const ASSETS_BYTES = 400_000;
const LONG_TASK_MS = 50;
const MESSAGES = 2000;

let server, relay, browser;

before(async () => {
  server = await Server.start();
  relay = await Relay.start(server.address);
  browser = await openBrowser();
});
after(async () => {
  await browser.close();
  await relay.stop();
  await server.stop();
});

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

test("the first paint, of a browser that was never here", async (t) => {
  const times = [];
  for (let i = 0; i < 7; i++) {
    const page = await openPage(browser, server.address);
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    await page.context().close();
  }
  t.diagnostic(
    `first contentful paint: median ${median(times).toFixed(0)} ms of ${times.map((ms) => ms.toFixed(0)).join(", ")}`,
  );
  assert.ok(median(times) <= FIRST_PAINT_MS);
});

test("all files together, compressed", async (t) => {
  const page = await openPage(browser, server.address);
  const files = await page.evaluate(() =>
    [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
      .filter(({ name }) => /\/$|\/web\//.test(name))
      .map(({ name, decodedBodySize }) => [name, decodedBodySize]),
  );
  assert.ok(files.length > 20);
  let small = 0;
  for (const [name] of files) {
    const response = await fetch(name, { headers: { "accept-encoding": "gzip" } });
    assert.equal(response.headers.get("content-encoding"), "gzip", name);
    small += Number(response.headers.get("content-length"));
  }
  t.diagnostic(`${files.length} files, ${small} bytes`);
  assert.ok(small <= ASSETS_BYTES);
  await page.context().close();
});

// A history as long as anybody's, written into the browser's store as the page writes it.
const fill = async (n) => {
  const kinds = [
    "A paragraph with **bold** words, `code` and a [link](https://example.com/).",
    "1. one\n2. two\n   - three\n   - four",
    "```python\ndef f(x):\n    return [y * 2 for y in range(x)]\n```",
    "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |",
    "> A quote\n\nand $x_1 + x_2$ behind it.",
  ];
  const open = indexedDB.open("wick", 1);
  const db = await new Promise((resolve) => (open.onsuccess = () => resolve(open.result)));
  const all = db.transaction(["chats", "messages"], "readwrite");
  for (let i = 0; i < n; i++) {
    const isUser = i % 2 === 0;
    const content = isUser
      ? `Question ${i}`
      : Array.from({ length: 6 }, (_, k) => kinds[(i + k) % kinds.length]).join("\n\n");
    all.objectStore("messages").put({
      id: `m${i}`,
      chat: "long",
      parent: i ? `m${i - 1}` : null,
      role: isUser ? "user" : "assistant",
      content,
      created: i + 1,
      model: "tiny",
    });
  }
  all
    .objectStore("chats")
    .put({ id: "long", title: "A long chat", created: 1, updated: 1, sampling: {}, leaf: `m${n - 1}` });
  await new Promise((resolve) => (all.oncomplete = resolve));
  db.close();
};

// The tasks of the page's main thread meanwhile, in ms: how long each computed, and how long it took with what else ran on the machine.
async function tasksDuring(page, what) {
  await browser.startTracing(page, { categories: ["-*", "disabled-by-default-devtools.timeline"] });
  await what();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const main = traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const isPages = ({ pid, tid }) => main.some((thread) => thread.pid === pid && thread.tid === tid);
  const tasks = traceEvents.filter((event) => event.name === "RunTask" && event.tdur !== undefined && isPages(event));
  assert.ok(tasks.length > 1000, `${tasks.length} tasks`);
  return tasks.map(({ dur, tdur }) => ({ took: dur / 1000, computed: tdur / 1000 }));
}

function check(t, tasks) {
  const longest = (kind) => Math.max(...tasks.map((task) => task[kind])).toFixed(1);
  t.diagnostic(`${tasks.length} tasks; the longest computed ${longest("computed")} ms, and took ${longest("took")} ms`);
  assert.deepEqual(
    tasks.filter(({ computed }) => computed > LONG_TASK_MS),
    [],
  );
}

const ANSWER = Array.from(
  { length: 40 },
  (_, i) =>
    `## Part ${i}\n\nSome **words** of an answer that is long, with \`code\` in it.\n\n` +
    "- a point\n- another one\n\n```js\nconst x = [1, 2, 3].map((n) => n * 2);\nconsole.log(x);\n```\n",
).join("\n");

async function longChat() {
  const page = await openPage(browser, relay.address);
  await page.evaluate(fill, MESSAGES);
  await page.evaluate(() => (location.hash = "#chat=long"));
  await page.reload();
  await page.waitForSelector(".message[data-id=m1999]");
  assert.equal(await page.locator(".facts, .foot").last().isVisible(), true);
  return page;
}

async function stream(page) {
  relay.script = () => ({ text: ANSWER, size: 4, perSecond: 100 });
  await page.fill("#prompt", "Please go on");
  await page.press("#prompt", "Enter");
  await page.waitForSelector(".grows .text");
  await page.waitForSelector("#stop", { state: "hidden", timeout: 60_000 });
}

test("2,000 messages and 100 tokens a second: no task is long", { timeout: 120_000 }, async (t) => {
  const page = await longChat();
  check(t, await tasksDuring(page, () => stream(page)));
  await page.context().close();
});

test("nor while all of it is scrolled through", { timeout: 120_000 }, async (t) => {
  const page = await longChat();
  const scroll = async (id, by) => {
    while (!(await page.locator(`.message[data-id=${id}]`).count())) {
      await page.evaluate((by) => (document.querySelector("#log").scrollTop += by), by);
      await sleep(20);
    }
  };
  const tasks = await tasksDuring(page, async () => {
    await scroll("m0", -1e9);
    assert.equal(await page.locator(".said").first().textContent(), "Question 0");
    await scroll("m200", 3000);
    await scroll("m0", -1e9);
    await page.click("#to-end");
    await scroll("m1999", 1e9);
  });
  assert.ok((await page.locator(".message").count()) <= 120);
  check(t, tasks);
  await page.context().close();
});
