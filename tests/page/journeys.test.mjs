// What people do with the page, from end to end: WICK=build/release/wick node --test tests/page
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { openBrowser, openPage, Relay, Server, sleep } from "./stage.mjs";

let server, relay, browser, page;

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
beforeEach(async () => {
  relay.script = null;
  relay.change = (body) => body;
  relay.requests = [];
  page = await openPage(browser, relay.address);
  page.expected = [];
});
afterEach(async () => {
  const faults = page.faults.filter((fault) => !page.expected.some((known) => known.test(fault)));
  await page.context().close();
  assert.deepEqual(faults, []);
  assert.deepEqual(page.strays, []);
});

const journey = (name, run) => test(name, { timeout: 30_000 }, run);
const say = async (text) => {
  await page.fill("#prompt", text);
  await page.press("#prompt", "Enter");
};
const isOver = () => page.waitForSelector("#stop", { state: "hidden" });
const ask = async (text) => {
  await say(text);
  await page.waitForSelector("#stop:not([hidden]), .failure, .assistant:last-child .foot > *", { state: "attached" });
  await isOver();
};
const texts = (selector) => page.locator(selector).allInnerTexts();
const answers = () => texts(".assistant .text");
const echo = (request) => ({ text: `You said: ${request.messages.at(-1).content}` });

journey("a first chat: an answer, its tokens and speed, a title in the list", async () => {
  await page.waitForSelector("#welcome h1");
  await ask("Good morning, wick");
  assert.equal((await answers()).length, 1);
  assert.match((await texts(".facts summary"))[0], /^[\d,]+ tokens · [\d.]+ tokens\/s$/);
  assert.deepEqual(await texts(".chat a"), ["Good morning, wick"]);
  assert.match(page.url(), /#chat=/);
  assert.equal(await page.title(), "Good morning, wick – wick");
});

journey("an answer is shown while it comes", async () => {
  relay.script = () => ({ text: "one two three four five six", perSecond: 5 });
  await say("count");
  await page.waitForSelector(".grows .text");
  await sleep(300);
  const early = (await answers())[0];
  assert.ok(early.length > 0 && early.length < 20, early);
  await isOver();
  assert.equal((await answers())[0], "one two three four five six");
});

journey("stop by the button: what came stays, and the server is told", async () => {
  relay.script = () => ({ text: "word ".repeat(500), perSecond: 50 });
  await say("go on");
  await page.waitForSelector(".grows .text");
  await sleep(200);
  await page.click("#stop");
  await isOver();
  await sleep(100);
  assert.equal(relay.open, 0);
  assert.match((await answers())[0], /^word/);
  assert.deepEqual(await texts(".finish"), ["stopped"]);
  assert.equal(await page.evaluate(() => document.activeElement.id), "prompt");
});

journey("stop by Escape, of the server's own endless answer", async () => {
  relay.change = (body) => ({ ...body, ignore_eos: true });
  await say("go on");
  await page.waitForSelector(".grows .text");
  await page.press("#prompt", "Escape");
  await isOver();
  assert.equal(await page.locator(".failure").count(), 0);
});

journey("edit and resend makes a branch, and back", async () => {
  relay.script = echo;
  await ask("first");
  await ask("second");
  await page.locator(".message.user").nth(1).hover();
  await page.locator(".message.user").nth(1).getByLabel("Edit and send again").click();
  await page.getByLabel("Edit message").fill("second, better");
  await page.click(".editor .primary");
  await page.waitForFunction(
    () => document.querySelectorAll(".assistant .text")[1]?.innerText === "You said: second, better",
  );
  await isOver();
  assert.deepEqual(
    relay.requests.at(-1).messages.map(({ content }) => content),
    ["first", "You said: first", "second, better"],
  );
  assert.deepEqual(await texts(".count"), ["2 / 2"]);
  await page.getByLabel("Previous branch").click();
  await page.waitForFunction(() => document.querySelectorAll(".assistant .text")[1]?.innerText === "You said: second");
  assert.deepEqual(await texts(".count"), ["1 / 2"]);
  await page.reload();
  await page.waitForSelector(".count");
  assert.deepEqual(await answers(), ["You said: first", "You said: second"]);
});

journey("an edit that is cancelled changes nothing", async () => {
  relay.script = echo;
  await ask("first");
  await page.press("#prompt", "ArrowUp");
  await page.getByLabel("Edit message").fill("other");
  await page.getByLabel("Edit message").press("Escape");
  assert.deepEqual(await texts(".said"), ["first"]);
  assert.equal(relay.requests.length, 1);
});

journey("answer again: branches of an answer, by keyboard", async () => {
  let n = 0;
  relay.script = () => ({ text: `answer ${++n}` });
  await ask("why?");
  for (const wanted of ["answer 2", "answer 3"]) {
    await page.getByLabel("Answer again").focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction((text) => document.querySelector(".assistant .text")?.innerText === text, wanted);
    await isOver();
  }
  assert.deepEqual(await texts(".count"), ["3 / 3"]);
  await page.getByLabel("Previous branch").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".assistant .text")?.innerText === "answer 2");
  await page.keyboard.press("Enter"); // the focus is still on the branches
  await page.waitForFunction(() => document.querySelector(".assistant .text")?.innerText === "answer 1");
  assert.equal(relay.requests.length, 3);
});

journey("reload: the chat, its place and its settings are there", async () => {
  relay.script = echo;
  await page.click("#open-settings");
  await page.fill("#system", "Be brief.");
  await page.fill("#sampler-temperature", "0.3");
  await ask("remember me");
  const address = page.url();
  await sleep(400);
  await page.reload();
  await page.waitForSelector(".assistant .text");
  assert.equal(page.url(), address);
  assert.deepEqual(await answers(), ["You said: remember me"]);
  await ask("and now?");
  assert.equal(relay.requests.at(-1).temperature, 0.3);
  assert.deepEqual(relay.requests.at(-1).messages[0], { role: "system", content: "Be brief." });
});

journey("reload in the middle of an answer keeps what came", async () => {
  relay.script = () => ({ text: "kept ".repeat(400), perSecond: 40 });
  await say("go on");
  await page.waitForSelector(".grows .text");
  await sleep(2300);
  await page.reload();
  await page.waitForSelector(".assistant .text");
  assert.match((await answers())[0], /^kept kept/);
  assert.deepEqual(await texts(".finish"), ["interrupted"]);
});

journey("samplers: what is asked, and what was in effect with its origin", async () => {
  await page.click("#open-settings");
  await page.fill("#sampler-temperature", "0");
  await page.fill("#sampler-max_tokens", "5");
  await ask("a");
  assert.equal(relay.requests[0].temperature, 0);
  assert.equal(relay.requests[0].max_tokens, 5);
  const effect = (name) => page.locator(`.sampler:has(#sampler-${name}) .effect`).innerText();
  assert.match(await effect("temperature"), /^0 · /);
  assert.match(await effect("top_k"), /^-?\d+ · \w+/);
  assert.match((await texts(".facts summary"))[0], /^5 tokens/);
  assert.deepEqual(await texts(".finish"), ["reached the limit"]);
  await page.click(".facts summary");
  assert.match((await texts(".facts .card"))[0], /Settings in effect[\s\S]*temperature/);
});

journey("settings for new chats, and a value out of range", async () => {
  relay.script = echo;
  await page.click("#open-settings");
  await page.fill("#system", "Rhyme.");
  await page.fill("#sampler-top_p", "7");
  assert.equal(await page.getAttribute("#sampler-top_p", "aria-invalid"), "true");
  await page.click("#keep-settings");
  await ask("x");
  assert.equal(relay.requests[0].top_p, undefined);
  await page.click("#new-chat");
  await ask("y");
  assert.equal(relay.requests[1].messages[0].content, "Rhyme.");
});

journey("another model: asked for, shown, kept for the chat", async () => {
  assert.deepEqual(await texts("#model option"), ["tiny", "small"]);
  await page.selectOption("#model", "small");
  await page.click("#open-settings");
  await page.fill("#sampler-max_tokens", "8");
  await ask("hello");
  assert.equal(relay.requests[0].model, "small");
  assert.deepEqual(await texts(".who"), ["small"]);
  await page.reload();
  await page.waitForSelector(".assistant .text", { state: "attached" });
  assert.equal(await page.inputValue("#model"), "small");
});

journey("the context: how full it is, and what the draft would take", async () => {
  await page.click("#open-settings");
  await page.fill("#sampler-max_tokens", "8");
  await ask("hello");
  await page.waitForSelector("#context:not([hidden])");
  assert.match(await page.innerText("#context-text"), /^\d+ \/ 66k$/);
  await page.fill("#prompt", "some more words");
  await page.waitForFunction(() =>
    /^\d+ tokens, \d+ of them new$/.test(document.querySelector("#draft-tokens").innerText),
  );
});

journey("a message that is too long for the context is refused in words", async () => {
  await page.selectOption("#model", "small");
  page.expected.push(/400/);
  await ask("word ".repeat(1000));
  assert.match((await texts(".failure"))[0], /context/i);
});

journey("dark as the system has it, and as the person chooses", async () => {
  const color = () => page.evaluate(() => getComputedStyle(document.body.parentElement).backgroundColor);
  const light = await color();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await color();
  assert.notEqual(light, dark);
  await page.click("#theme");
  assert.equal(await color(), light);
  await page.click("#theme");
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await color(), dark);
  await page.reload();
  assert.equal(await color(), dark);
});

journey("a phone: everything fits, the list opens and closes", async () => {
  await page.context().close();
  page = Object.assign(
    await openPage(browser, relay.address, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }),
    { expected: [] },
  );
  relay.script = () => ({
    text:
      "A `" +
      "long".repeat(60) +
      "` line.\n\n```\n" +
      "x".repeat(300) +
      "\n```\n\n|a|b|c|\n|-|-|-|\n|" +
      "wide ".repeat(30) +
      "|b|c|",
  });
  await page.fill("#prompt", "hello");
  await page.tap("#send");
  await page.waitForSelector(".facts");
  const fits = () =>
    page.evaluate(
      () =>
        document.documentElement.scrollWidth <= innerWidth &&
        document.querySelector("#log").scrollWidth <= document.querySelector("#log").clientWidth,
    );
  assert.ok(await fits());
  await page.tap("#open-sidebar");
  assert.ok(await page.isVisible("#new-chat"));
  await page.tap(".chat a");
  await page.waitForSelector("#new-chat", { state: "hidden" });
  await page.tap("#open-settings");
  assert.ok(await fits());
  await page.tap("#close-settings");
});

journey("what is written while the page is loading stays", async () => {
  await page.route(/js\/store\.js/, async (route) => {
    await page.fill("#prompt", "in a hurry");
    await route.continue();
  });
  await page.reload();
  await page.waitForFunction(() => document.querySelector("#model").options[0]?.text !== "…");
  assert.equal(await page.inputValue("#prompt"), "in a hurry");
  await page.press("#prompt", "Enter");
  await page.waitForSelector(".facts");
  assert.deepEqual(await texts(".said"), ["in a hurry"]);
});

journey("by keyboard alone: skip link, send, copy, new chat, hide the list", async () => {
  relay.script = echo;
  for (let i = 0; i < 20 && (await page.evaluate(() => document.activeElement.className)) !== "skip"; i++)
    await page.keyboard.press("Shift+Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "prompt");
  await page.keyboard.type("line one");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("line two");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".facts");
  assert.deepEqual(await texts(".said"), ["line one\nline two"]);
  await page.locator(".skip").press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "prompt");
  assert.match(page.url(), /#chat=/);
  for (
    let i = 0;
    i < 12 && (await page.evaluate(() => document.activeElement.getAttribute("aria-label"))) !== "Copy message";
    i++
  ) {
    await page.keyboard.press("Shift+Tab");
  }
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "You said: line one\nline two");
  await page.keyboard.press("Control+b");
  assert.ok(await page.isHidden("#sidebar"));
  await page.keyboard.press("Control+b");
  assert.ok(await page.isVisible("#sidebar"));
  await page.keyboard.press("Control+Shift+O");
  await page.waitForSelector("#welcome h1");
});

journey("the server is gone, and back", async () => {
  relay.script = echo;
  await ask("before");
  const { port } = relay;
  page.expected.push(/ERR_CONNECTION/);
  await relay.stop();
  await ask("meanwhile");
  assert.match((await texts(".failure"))[0], /does not answer/);
  assert.ok(await page.isVisible("#banner"));
  await relay.listen(port);
  await page.waitForSelector("#banner", { state: "hidden" });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForFunction(
    () => document.querySelectorAll(".assistant .text")[1]?.innerText === "You said: meanwhile",
  );
  assert.equal(await page.locator(".count").count(), 0); // the failed answer is no branch
});

journey("the server ends in mid-answer: what came stays, with a way to try again", async () => {
  relay.script = () => ({ text: "half of it", cut: true });
  page.expected.push(/ERR_/);
  await ask("say");
  assert.match((await answers())[0], /^half of it/);
  assert.match((await texts(".failure"))[0], /went away/);
  relay.script = () => ({ text: "some", error: { message: "the device was lost", code: "device_lost" } });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForFunction(() => document.querySelector(".failure")?.innerText.includes("the device was lost"));
});

journey("a server that wants a key", async () => {
  const file = join(server.folder, "keys");
  const [key] = Server.run("key", "create", "--api-key-file", file).match(/sk-wick-\S+/);
  const locked = await Server.start("--api-key-file", file);
  page.expected.push(/401/);
  const asked = () => page.waitForSelector("#ask[open] input[type=password]");
  try {
    await page.goto(locked.address);
    await asked();
    await page.fill("#ask input", "sk-wick-wrong");
    await page.click("#ask-yes");
    await asked();
    await page.fill("#ask input", key);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#model").value === "tiny");
    await page.reload();
    await page.waitForFunction(() => document.querySelector("#model").value === "tiny");
    assert.equal(await page.locator("#ask[open]").count(), 0);
    await ask("hello");
    assert.equal(await page.locator(".failure").count(), 0);
  } finally {
    await locked.stop();
  }
});

journey("Markdown: code with colors and a copy button, a table, math as text, no picture", async () => {
  const code = "def f(x):\n    return x  # twice\n";
  relay.script = () => ({
    text:
      `# Title\n\n\`\`\`python\n${code}\`\`\`\n\n|a|b|\n|:-|-:|\n|1|2|\n\n$a_1 + b_1$ costs $5 or $6.\n\n` +
      "![chart](https://example.com/a.png) [link](https://example.com/) [bad](javascript:alert(1)) <b>no</b>",
  });
  await ask("show");
  await page.waitForSelector(".hljs-keyword");
  await page.getByLabel("Copy code").click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), code);
  assert.equal(await page.locator("td.align-right").innerText(), "2");
  assert.deepEqual(await texts(".math"), ["a_1 + b_1"]);
  assert.equal(await page.locator(".message img, .message b").count(), 0);
  assert.deepEqual(
    await page
      .locator(".message a")
      .evaluateAll((links) => links.map((a) => [a.textContent, a.getAttribute("href"), a.rel])),
    [
      ["chart", "https://example.com/a.png", "noopener noreferrer nofollow"],
      ["link", "https://example.com/", "noopener noreferrer nofollow"],
    ],
  );
});

journey("thoughts are apart from the answer", async () => {
  relay.script = () => ({ reasoning: "Let me think of it", text: "Done.", perSecond: 6 });
  await say("think");
  await page.waitForSelector(".thoughts[open]");
  await isOver();
  assert.equal(await page.locator(".thoughts[open]").count(), 0);
  await page.click(".thoughts summary");
  assert.match((await texts(".thoughts"))[0], /Let me think of it/);
  assert.equal((await answers()).at(-1), "Done.");
});

journey("export, delete all, import: the same chats with their branches", async () => {
  relay.script = echo;
  await ask("one");
  await page.getByLabel("Answer again").click();
  await page.waitForSelector(".count");
  await page.click("#new-chat");
  await ask("two");
  await page.click("#history");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#export-all")]);
  const file = await download.path();
  assert.equal(JSON.parse(readFileSync(file)).messages.length, 5);
  await page.click("#history");
  await page.click("#delete-all");
  await page.click("#ask-yes");
  await page.waitForFunction(() => document.querySelector("#chats").innerText === "No chats yet");
  await page.setInputFiles("#file", file);
  await page.waitForSelector(".chat");
  assert.deepEqual((await texts(".chat a")).sort(), ["one", "two"]);
  await page.locator(".chat a", { hasText: "one" }).click();
  await page.waitForSelector(".count");
  assert.deepEqual(await texts(".count"), ["2 / 2"]);
  await page.setInputFiles("#file", {
    name: "x.json",
    mimeType: "application/json",
    buffer: Buffer.from('{"format":"other"}'),
  });
  await page.waitForFunction(() => document.querySelector("#toast").innerText.includes("not a history"));
});

journey("chats: rename, search, delete", async () => {
  relay.script = echo;
  for (const name of ["apple", "pear", "plum", "cherry", "quince"]) {
    await page.click("#new-chat");
    await ask(name);
  }
  await page.fill("#search", "p");
  await page.waitForFunction(() => document.querySelectorAll(".chat").length === 3);
  await page.fill("#search", "");
  await page.locator(".chat", { hasText: "pear" }).hover();
  await page.getByLabel("Rename “pear”").click();
  await page.fill("#ask input", "A better pear");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".chat :text('A better pear')");
  await page.locator(".chat", { hasText: "apple" }).hover();
  await page.getByLabel("Delete “apple”").click();
  await page.click("#ask-yes");
  await page.waitForFunction(() => document.querySelectorAll(".chat").length === 4);
});

journey("a file that somebody else made: what is wrong in it is left out", async () => {
  const file = {
    format: "wick-chats-1",
    chats: [
      { id: "c", title: "<b>bad</b>", system: 7, sampling: { temperature: "x", top_p: [1], stop: 3 }, leaf: "b" },
    ],
    messages: [
      {
        id: "a",
        chat: "c",
        parent: "b",
        role: "user",
        content: "<img src=x onerror=alert(1)>",
        usage: { prompt_tokens: "many" },
      },
      {
        id: "b",
        chat: "c",
        parent: "a",
        role: "assistant",
        content: "hi",
        usage: 5,
        timings: "fast",
        parameters: 3,
        error: {},
      },
    ],
  };
  const buffer = Buffer.from(JSON.stringify(file));
  await page.setInputFiles("#file", { name: "x.json", mimeType: "application/json", buffer });
  await page.click(".chat a");
  await page.waitForSelector(".assistant .text");
  assert.deepEqual(await texts(".said"), ["<img src=x onerror=alert(1)>"]);
  assert.equal(await page.locator(".facts").count(), 0);
});

journey("Back goes to the chat before", async () => {
  relay.script = echo;
  await ask("one");
  await page.click("#new-chat");
  await ask("two");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector(".said")?.textContent === "one");
  await page.goForward();
  await page.waitForFunction(() => document.querySelector(".said")?.textContent === "two");
});

journey("two chats at a time: one goes on while another is shown", async () => {
  relay.script = (request) => ({ text: `${request.messages[0].content} `.repeat(30), perSecond: 40 });
  await say("slow");
  await page.waitForSelector(".grows .text");
  await page.click("#new-chat");
  relay.script = echo;
  await ask("quick");
  assert.deepEqual(await answers(), ["You said: quick"]);
  await page.locator(".chat a", { hasText: "slow" }).click();
  await page.waitForFunction(() => document.querySelector(".said")?.textContent === "slow");
  await page.waitForSelector(".facts");
  assert.equal((await answers())[0].trim(), "slow ".repeat(30).trim());
});

journey("the end stays in sight until the person looks elsewhere", async () => {
  relay.script = () => ({ text: "A paragraph of some words.\n\n".repeat(200), perSecond: 400 });
  await say("much");
  await page.waitForSelector(".grows .text p:nth-child(40)");
  const gap = () =>
    page.evaluate(() => {
      const log = document.querySelector("#log");
      return log.scrollHeight - log.scrollTop - log.clientHeight;
    });
  assert.ok((await gap()) < 80, `${await gap()} px`);
  await page.hover("#log");
  await page.mouse.wheel(0, -300);
  await sleep(300);
  assert.ok((await gap()) > 200, `${await gap()} px`);
  await page.click("#to-end");
  await isOver();
  assert.ok((await gap()) < 20, `${await gap()} px`);
});

journey("a screen reader hears that an answer began, and what it was", async () => {
  relay.script = () => ({ text: "Forty-two.", perSecond: 5 });
  await say("the question");
  await page.waitForFunction(() => document.querySelector("#status").innerText === "Answering");
  await isOver();
  assert.equal(await page.locator("#status").innerText(), "The answer: Forty-two.");
  assert.equal(await page.locator("article[aria-label='Answer of tiny']").count(), 1);
});
