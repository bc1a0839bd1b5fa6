// axe-core finds nothing serious, in each state that the page has.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import axe from "axe-core";
import { openBrowser, openPage, Relay, Server } from "./stage.mjs";

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

const TEXT =
  "# One\n\nA [link](https://example.com) and `code`.\n\n" +
  '```python\n# a comment\ndef f(x: int) -> str:\n    return "text" + str(1.5)\n```\n\n' +
  "```diff\n- old\n+ new\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> quoted\n\n$x^2$\n\n1. one\n   - two";

async function seriousFindings(page) {
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate(() => window.axe.run(document));
  assert.ok(passes.length > 20, `axe looked at ${passes.length} rules`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(" | ")}`,
    );
}

const STATES = {
  "an empty page": async () => {},
  "a chat with all kinds of text": async (page) => chat(page),
  "details of an answer": async (page) => {
    await chat(page);
    await page.click(".facts summary");
    await page.click(".thoughts summary");
  },
  "an answer that failed": async (page) => {
    relay.script = () => ({ text: "half", error: { message: "the device was lost", code: "device_lost" } });
    await send(page, ".failure");
  },
  "an answer that is edited, with branches": async (page) => {
    await chat(page);
    await page.getByLabel("Answer again").click();
    await page.waitForSelector(".count");
    await page.press("#prompt", "ArrowUp");
  },
  settings: async (page) => {
    await chat(page);
    await page.click("#open-settings");
    await page.click("#settings summary");
    await page.fill("#sampler-top_p", "9");
  },
  "a dialog": async (page) => {
    await chat(page);
    await page.hover(".chat");
    await page.getByLabel(/^Rename/).click();
  },
  "the history's menu": async (page) => page.click("#history"),
};

async function send(page, until) {
  await page.fill("#prompt", "hello");
  await page.click("#send");
  await page.waitForSelector(until);
}

async function chat(page) {
  relay.script = () => ({ text: TEXT, reasoning: "I think" });
  await send(page, ".facts");
  await page.waitForSelector(".hljs-string");
}

for (const [looks, options] of [
  ["light", {}],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 844 } }],
]) {
  for (const [state, reach] of Object.entries(STATES)) {
    if (looks === "phone" && ["a dialog", "the history's menu"].includes(state)) continue; // behind the list, as wide as on a desk
    test(`${looks}: ${state}`, { timeout: 60_000 }, async () => {
      const page = await openPage(browser, relay.address, { reducedMotion: "reduce", ...options });
      await reach(page);
      assert.deepEqual(await seriousFindings(page), []);
      await page.context().close();
    });
  }
}
