// A tour of the page: going forward and back, comparing, links, keys, and what goes wrong.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { changed, click, facts, fits, open, scrub, skip, text, withBrowser } from "./browser.mjs";

describe("the page of the lab", { skip }, () => {
  withBrowser();

  for (const [size, from] of [["wide", "file"], ["phone", "file"], ["wide", "http"], ["phone", "http"]]) {
    test(`steps through an experiment and fits the screen (${size}, ${from})`, async () => {
      const { page, said } = await open(size, { from, hash: "#small-buffer" });
      assert.equal((await facts(page)).length, 2, "two runs");
      assert.match((await facts(page))[0], /of 1,000 cells/);
      const [start, unit] = [await text(page, "#now"), await click(page, "unit")];
      assert.notEqual(unit, start);
      await click(page, "frame");
      await click(page, "drop");
      assert.match(await text(page, ".drops li"), /frame \d+, unit \d+: [a-z-]+/);
      assert.equal(await page.locator("figure canvas").count(), 4, "four charts");
      await click(page, "trip");
      await fits(page);
      assert.deepEqual(said, []);
      await page.close();
    });
  }

  test("shows the same at the same instant, forward and back", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
    const there = await scrub(page, 60);
    const first = await facts(page);
    await scrub(page, 64);
    assert.notDeepEqual(await facts(page), first);
    assert.equal(await scrub(page, 60), there);
    assert.deepEqual(await facts(page), first);
    await page.close();
  });

  test("finds the first difference, and a link shows it again", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
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
    const { page } = await open("wide", { hash: "#small-buffer" });
    const now = await text(page, "#now");
    const policy = (run) => page.locator(".more").nth(run).locator(".policy").first();
    await policy(0).locator("select").first().selectOption("selective-drop");
    await page.waitForFunction(() => document.getElementById("command")?.textContent?.includes('"selective-drop"'));
    assert.equal(await text(page, "#now"), now);
    assert.match(await text(page, ".panel h2"), /^A selective-drop$/, "the heading says what A is now");
    const parameters = policy(1).locator("details").first();
    await parameters.locator("summary").click();
    await parameters.getByLabel("reserve").fill("many cells");
    await page.keyboard.press("Tab");
    await page.waitForSelector("#message.wrong");
    assert.match(await text(page, "#message"), /reserve/);
    await click(page, "unit");
    await page.close();
  });

  test("follows the frame of a unit that is clicked on", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
    await click(page, "drop");
    await page.locator(".panel canvas").first().click({ position: { x: 34, y: 22 } });
    const followed = /flow\d+, frame \d+: (\d+) in the buffer, (\d+) sent/;
    const [, here, sent] = followed.exec((await facts(page))[0]);
    assert.ok(Number(here) > 0);
    await click(page, "frame");
    const [, later, left] = followed.exec((await facts(page))[0]);
    assert.ok(Number(left) > Number(sent) && Number(later) < Number(here));
    await page.close();
  });

  test("plays, and goes by keys", async () => {
    const { page, said } = await open("wide", { hash: "#small-buffer" });
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

  test("shows no figures from the time after the instant when it goes to the next loss", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
    await click(page, "drop");
    const now = Number((await text(page, "#now")).replaceAll(/[^\d.]/g, ""));
    await page.locator("#table summary").click();
    await page.waitForSelector("#table tbody td");
    const times = await page.locator("#table tbody tr td:nth-child(2)").allInnerTexts();
    const last = await page.evaluate(() => document.querySelectorAll("#table tbody tr").length);
    assert.ok(last > 10 && times.every((time) => Number(time) <= now), `${times} after ${now}`);
    await page.close();
  });

  test("says why a unit is lost, and follows its frame back", async () => {
    const { page } = await open("wide", { hash: "#gpj" });
    await click(page, "start");
    await click(page, "drop");
    await page.locator(".drops button").first().click();
    const fate = /frame \d+: \d+ in the buffer, \d+ sent, 1 lost \(marked: it was marked as discardable \(CLP\), and the occupancy had reached/;
    assert.match((await facts(page)).join("\n"), fate);
    await page.close();
  });

  test("goes on after the engine has trapped", async () => {
    const trap = `const real = WebAssembly.instantiate;
      const written = JSON.stringify;
      let traps = false;
      JSON.stringify = (value) => ((traps = value?.event === "unit"), written(value));
      WebAssembly.instantiate = async (...given) => {
        const { exports } = await real(...given);
        const answer = () => { if (traps) throw new WebAssembly.RuntimeError("unreachable"); return exports.pushout_answer(); };
        return { exports: { ...exports, pushout_answer: answer } };
      };`;
    const prepare = (page) =>
      page.addInitScript((code) => {
        const Real = Blob;
        window.Blob = class extends Real {
          constructor(parts, options) {
            super(options?.type === "text/javascript" ? [code, ...parts] : parts, options);
          }
        };
      }, trap);
    const { page } = await open("wide", { prepare });
    await page.click("#unit");
    await page.waitForSelector("#message.wrong");
    assert.match(await text(page, "#message"), /the engine has stopped: .*unreachable.*choose an experiment/i);
    await page.selectOption("#preset", "small-buffer");
    await page.waitForSelector("#message:not(.wrong)", { state: "attached" });
    await click(page, "frame");
    await page.close();
  });
});
