// What a hostile model writes runs nothing and reaches nobody: each answer streamed into the page, then shown again from the history.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hostileAnswers } from "./hostile.mjs";
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

async function hostilePage() {
  const page = await openPage(browser, relay.address);
  page.windows = [];
  page.context().on("page", (other) => page.windows.push(other.url()));
  await page.evaluate(() => {
    window.harmed = [];
    window.harm = (n) => window.harmed.push(n);
    document.addEventListener("securitypolicyviolation", (event) =>
      window.harmed.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  return page;
}

// Whoever looks for something to press or hover presses and hovers it.
const provoke = () => {
  for (const element of document.querySelectorAll("#messages *")) {
    for (const type of ["mouseover", "mouseenter", "focus", "load", "error", "toggle", "begin", "start"])
      element.dispatchEvent(new Event(type));
    if (element.tagName === "A" && !/^(https?|mailto):/.test(element.getAttribute("href") ?? "http:"))
      window.harm(element.outerHTML);
    for (const { name, value } of element.attributes) {
      if (
        /^on/.test(name) ||
        name === "style" ||
        name === "srcdoc" ||
        /^(src|xlink:href|action|formaction|data|poster|background)$/.test(name)
      )
        window.harm(`${name}=${value}`);
    }
  }
};

test("the trap works: an attribute that runs code, and a picture of a stranger, are seen", async () => {
  const page = await hostilePage();
  await page.evaluate(() => {
    const bad = document.createElement("img");
    bad.src = "http://evil.test/0";
    document.querySelector("#messages").append(bad);
  });
  await page.evaluate(provoke);
  await page.waitForFunction(() => window.harmed.some((what) => String(what).startsWith("img-src")));
  assert.ok((await page.evaluate(() => window.harmed)).includes("src=http://evil.test/0"));
  await page.context().close();
});

test("500 hostile answers: no script runs, no request leaves", { timeout: 300_000 }, async () => {
  const answers = hostileAnswers();
  assert.equal(answers.length, 500);
  assert.equal(new Set(answers).size, 500);
  let next = 0;
  relay.script = () => ({ text: answers[next], size: 1 + (next % 17) });
  const page = await hostilePage();
  for (; next < answers.length; next++) {
    if (next % 20 === 0) await page.click("#new-chat");
    const n = next % 20;
    await page.fill("#prompt", `go ${next}`);
    await page.press("#prompt", "Enter");
    await page.waitForFunction(
      (n) =>
        document.querySelectorAll(".assistant .foot > *").length > 0 &&
        document.querySelectorAll(".assistant").length === n + 1 &&
        document.querySelector("#stop").hidden,
      n,
    );
    if (n === 19) await page.evaluate(provoke);
  }
  assert.deepEqual(await page.evaluate(() => window.harmed), []);
  // Once more, from the history, whole.
  for (const link of await page.locator(".chat a").evaluateAll((all) => all.map((a) => a.href))) {
    await page.evaluate((address) => (location.href = address), link);
    await page.waitForFunction(
      (address) =>
        document.querySelector(".chat.shown a")?.href === address && document.querySelector(".assistant .foot > *"),
      link,
    );
    await page.evaluate(provoke);
  }
  assert.deepEqual(await page.evaluate(() => window.harmed), []);
  assert.deepEqual(page.strays, []);
  assert.deepEqual(page.windows, []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
