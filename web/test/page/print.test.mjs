// The lecture on paper: a page for each step, with question, guesses, a figure of its runs and the answer.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { experiments } from "../../presets.mjs";
import { open, skip, text, withBrowser } from "./browser.mjs";

const lessons = experiments().filter(({ lesson }) => lesson);
const pictures = process.env.PICTURES;
/** Pages of a PDF. */
const pages = (pdf) => pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;

function keep(name, content) {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  writeFileSync(`${pictures}/${name}`, content);
}

describe("paper", { skip }, () => {
  withBrowser();

  test("the lecture prints a page for each of its steps", { timeout: 300_000 }, async () => {
    const { page, said } = await open("wide", { hash: "#marks", colorScheme: "dark" });
    await page.evaluate(() => (window.print = () => (document.documentElement.dataset.printed = "true")));
    await page.click("#print");
    await page.waitForSelector("#work:visible");
    await page.waitForFunction(() => /^Preparing the lecture, \d+ %$/.test(document.getElementById("doing").textContent));
    await page.waitForSelector("html[data-printed]", { timeout: 240_000 });
    const sheets = await page.locator(".sheet").evaluateAll((all) =>
      all.map((sheet) => ({
        text: sheet.textContent,
        coloured: new Set([...sheet.querySelectorAll("svg rect")].map((rect) => rect.getAttribute("fill"))).size,
        lines: [...sheet.querySelectorAll("svg polyline")].filter((line) => line.getAttribute("points").split(" ").length > 20).length,
        words: [...sheet.querySelectorAll("svg text")].map(({ textContent }) => textContent),
      })),
    );
    assert.equal(sheets.length, lessons.length);
    sheets.forEach(({ text, coloured, lines, words }, at) => {
      const { title, question, lesson } = lessons[at];
      for (const part of [title, question, lesson.answer, ...lesson.guesses, "pushout run"]) assert.ok(text.includes(part), `${title}: ${part}`);
      assert.match(text, /10 seeds: /);
      assert.ok(coloured > 4 && lines >= 2, `${title}: ${coloured} colours and ${lines} lines of the runs`);
      assert.ok(words.some((word) => word.startsWith("Queue")), `${title}: ${words}`);
    });
    const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true });
    keep("lecture.pdf", pdf);
    assert.equal(pages(pdf), lessons.length);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator(".sheet").count(), 0, "the page is as before");
    assert.deepEqual(said, []);
    await page.close();
  });

  test("the page itself prints on one sheet, without its buttons", async () => {
    const { page } = await open("wide", { hash: "#home", colorScheme: "dark", as: "found" });
    await page.click("#play");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    for (const id of ["#bar", "#more", "#time"]) assert.ok(await page.locator(id).isHidden(), id);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.match(await text(page, "#outcome"), /10 seeds/);
    const pdf = await page.pdf({ format: "A4", landscape: true });
    keep("page.pdf", pdf);
    assert.equal(pages(pdf), 1);
    await page.close();
  });
});
