// A tour of the page in Chromium, from a file: LAB names it, CHROMIUM the browser if it is elsewhere. Skipped without one.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => path && existsSync(path),
);
const pictures = process.env.PICTURES;
const skip = browserPath ? false : "no Chromium: apt install chromium, or CHROMIUM=/path/to/it";
const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

let browser;

/** The page at this size, ready, with what the console has said. */
async function open(size, { hash = "", ...options } = {}) {
  const page = await browser.newPage({ viewport: sizes[size], ...options });
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  await page.goto(pathToFileURL(process.env.LAB).href + hash);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  return { page, said };
}

const text = (page, selector) => page.locator(selector).first().innerText();
const facts = (page) => page.locator(".facts").allInnerTexts();

/** Wait until the instant that is shown is another one; answer it. */
async function changed(page, before) {
  await page.waitForFunction((old) => document.getElementById("now")?.textContent !== old, before, { timeout: 60_000 });
  return text(page, "#now");
}

async function click(page, id) {
  const before = await text(page, "#now");
  await page.click(`#${id}`);
  return changed(page, before);
}

/** Go to a share of the run, in thousandths. */
async function scrub(page, share) {
  const before = await text(page, "#now");
  await page.locator("#time").evaluate((slider, value) => {
    slider.value = value;
    slider.dispatchEvent(new Event("change"));
  }, String(share));
  return changed(page, before);
}

describe("the page of the lab", { skip }, () => {
  before(async () => {
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  });
  after(() => browser?.close());

  for (const size of Object.keys(sizes)) {
    test(`steps through an experiment and fits the screen (${size})`, async () => {
      const { page, said } = await open(size);
      assert.equal((await facts(page)).length, 2, "two runs");
      assert.match((await facts(page))[0], /of 8,192 cells/);
      const [start, unit] = [await text(page, "#now"), await click(page, "unit")];
      assert.notEqual(unit, start);
      await click(page, "frame");
      await click(page, "drop");
      assert.match(await text(page, ".drops li"), /frame \d+, unit \d+: [a-z-]+/);
      assert.equal(await page.locator("figure canvas").count(), 4, "four charts");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels are outside of the screen`);
      assert.deepEqual(said, []);
      await page.close();
    });
  }

  test("shows the same at the same instant, forward and back", async () => {
    const { page } = await open("wide");
    const there = await scrub(page, 10);
    const first = await facts(page);
    await scrub(page, 14);
    assert.notDeepEqual(await facts(page), first);
    assert.equal(await scrub(page, 10), there);
    assert.deepEqual(await facts(page), first);
    await page.close();
  });

  test("finds the first difference, and a link shows it again", async () => {
    const { page } = await open("wide");
    await click(page, "difference");
    assert.match(await text(page, "#message"), /First difference at [\d. ]+ s\. A keeps it; B: flow\d+, frame \d+, unit 0 lost: early/);
    const [now, shown] = [await text(page, "#now"), await facts(page)];
    const again = await open("wide", { hash: new URL(page.url()).hash });
    assert.equal(await text(again.page, "#now"), now);
    assert.deepEqual(await facts(again.page), shown);
    await page.close();
    await again.page.close();
  });

  test("runs another policy from the same seed up to the same instant, and says what cannot be", async () => {
    const { page } = await open("wide");
    const now = await text(page, "#now");
    const policies = page.locator(".policy > label > select");
    const policy = policies.first();
    await policy.selectOption("ppd");
    await page.waitForFunction(() => document.getElementById("command")?.textContent?.includes('"ppd"'));
    assert.equal(await text(page, "#now"), now);
    await policies.last().selectOption("epd");
    const parameters = page.locator(".panel").last().locator("details").first();
    await parameters.locator("summary").click();
    await parameters.getByLabel("reserve").fill("many cells");
    await page.keyboard.press("Tab");
    await page.waitForSelector("#message.wrong");
    assert.match(await text(page, "#message"), /reserve/);
    await click(page, "unit");
    await page.close();
  });

  test("follows the frame of a unit that is clicked on", async () => {
    const { page } = await open("wide");
    await page.locator(".panel canvas").first().click({ position: { x: 3, y: 3 } });
    const followed = /flow\d+, frame \d+: (\d+) in the buffer, (\d+) sent since/;
    const [, here, sent] = followed.exec((await facts(page))[0]);
    assert.ok(Number(here) > 0 && Number(sent) === 0);
    await click(page, "frame");
    const [, later, left] = followed.exec((await facts(page))[0]);
    assert.ok(Number(left) > 0 && Number(later) < Number(here));
    await page.close();
  });

  test("plays, and goes by keys", async () => {
    const { page, said } = await open("wide");
    const before = await text(page, "#now");
    await page.keyboard.press(" ");
    await changed(page, before);
    await page.keyboard.press(" ");
    assert.equal(await text(page, "#play"), "Play");
    await page.waitForTimeout(300);
    const stopped = await text(page, "#now");
    await page.keyboard.press("ArrowRight");
    await changed(page, stopped);
    assert.deepEqual(said, []);
    await page.close();
  });

  test("says that a link is damaged, and goes on", async () => {
    const { page } = await open("wide", { hash: "#%5B1" });
    assert.match(await text(page, "#message"), /the link is damaged/);
    await click(page, "unit");
    await page.close();
  });

  test("takes pictures where they are wanted", { skip: pictures ? false : "PICTURES names no folder" }, async () => {
    mkdirSync(pictures, { recursive: true });
    for (const size of Object.keys(sizes)) {
      for (const colorScheme of ["light", "dark"]) {
        const { page } = await open(size, { colorScheme });
        await click(page, "drop");
        await page.waitForTimeout(300);
        await page.screenshot({ path: `${pictures}/${size}-${colorScheme}.png`, fullPage: true });
        await page.close();
      }
    }
  });
});
