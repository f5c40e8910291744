// The page in Chromium for the tours: LAB names its file, CHROMIUM the browser if it is elsewhere. Skipped without one, unless
// BROWSER=needed.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => path && existsSync(path),
);
if (!browserPath && process.env.BROWSER === "needed") throw new Error("no Chromium, and BROWSER=needed: apt install chromium, or CHROMIUM=/path/to/it");
export const skip = browserPath ? false : "no Chromium: apt install chromium, or CHROMIUM=/path/to/it";
export const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

let browser;
let server;

/** Start the browser, and a server for the page, for the tests of a group. */
export function withBrowser() {
  before(async () => {
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
    server = createServer((_, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(readFileSync(process.env.LAB));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });
}

/** Put scenarios into the page for the tests of a group, as `pushout lab` does. */
export function withGiven(offers) {
  const [built, folder] = [process.env.LAB, mkdtempSync(join(tmpdir(), "lab-"))];
  const mark = '<script id="given" type="application/json">';
  before(() => {
    process.env.LAB = join(folder, "lab.html");
    const given = JSON.stringify(offers).replaceAll("<", "\\u003c");
    writeFileSync(process.env.LAB, readFileSync(built, "utf8").replace(`${mark}[]`, () => mark + given));
  });
  after(() => {
    process.env.LAB = built;
    rmSync(folder, { recursive: true });
  });
}

/** Where the page is, as a file or behind a server. */
export const address = (from = "file") => (from === "http" ? `http://127.0.0.1:${server.address().port}/lab.html` : pathToFileURL(process.env.LAB).href);

/**
 * The page at this size, ready, with what the console has said; `prepare` gets it before it loads. It rests, with its drawer
 * open, unless `as` says that it stays as a reader finds it.
 */
export async function open(size, { hash = "", from = "file", prepare = () => {}, as = "rest", ...options } = {}) {
  const page = await browser.newPage({ viewport: sizes[size], ...options });
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  await prepare(page);
  await page.goto(address(from) + hash);
  await page.waitForSelector("html[data-ready]", { timeout: 120_000 });
  if (as !== "found") await allow(page);
  if (as === "rest") await rest(page);
  return { page, said };
}

/** Let the page do long work if it asks. */
async function allow(page) {
  if (!(await page.locator("#ask").isVisible())) return;
  await page.click("#go");
  await page.waitForSelector(".facts", { state: "attached", timeout: 120_000 });
}

/** Pause, and open the drawer. */
async function rest(page) {
  if ((await text(page, "#play")) === "Pause") await page.click("#play");
  await page.waitForFunction(() => document.getElementById("play").textContent === "Play");
  await page.evaluate(() => (document.getElementById("more").open = true));
  await page.waitForSelector(".facts:not(:empty)", { state: "attached" });
}

export const traced = (page, categories) => browser.startTracing(page, { categories });
export const traceEnd = async () => JSON.parse((await browser.stopTracing()).toString()).traceEvents;

export const text = (page, selector) => page.locator(selector).first().innerText();
export const facts = (page) => page.locator(".facts").allInnerTexts();

/** Wait until the instant that is shown is another one; answer it. */
export async function changed(page, old) {
  await page.waitForFunction((shown) => document.getElementById("now")?.textContent !== shown, old, { timeout: 60_000 });
  return text(page, "#now");
}

export async function click(page, id) {
  const old = await text(page, "#now");
  await page.click(`#${id}`);
  return changed(page, old);
}

/** Go to a share of the run, in thousandths. */
export async function scrub(page, share) {
  const old = await text(page, "#now");
  await page.locator("#time").evaluate((slider, value) => {
    slider.value = value;
    slider.dispatchEvent(new Event("change"));
  }, String(share));
  return changed(page, old);
}

/** Wait until a picture is described so: charts follow the instant that is shown within a tenth of a second. */
export async function labelled(picture, words) {
  const said = () => picture.getAttribute("aria-label");
  for (const end = Date.now() + 10_000; (await said()) !== words && Date.now() < end; ) await picture.page().waitForTimeout(20);
  assert.equal(await said(), words);
}

/** Nothing lies outside of the screen. */
export async function fits(page) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels are outside of the screen`);
}
