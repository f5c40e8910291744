// How the page looks and feels: every preset, shared memory, accessibility, motion, work per frame, pictures for people.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { describe, test } from "node:test";
import { experiments } from "../../presets.mjs";
import { click, facts, fits, open, sizes, skip, text, traceEnd, traced, withBrowser } from "./browser.mjs";

const presets = experiments();
const axe = new URL("../../node_modules/axe-core/axe.min.js", import.meta.url).pathname;
const pictures = process.env.PICTURES;

describe("the look of the page", { skip }, () => {
  withBrowser();

  for (const { name, title, look, lesson, labels, printed, runs } of presets) {
    test(`the link #${name} opens its experiment, on one screen with both runs`, async () => {
      const before = performance.now();
      const { page, said } = await open("wide", { hash: `#${name}`, from: "http", as: "found" });
      console.log(`${name}: ready after ${((performance.now() - before) / 1000).toFixed(1)} s`);
      assert.equal(await page.locator("#preset option:checked").innerText(), title);
      assert.ok(await page.locator("#message").isHidden(), "it greets without a message");
      const heads = await page.locator(".panel h2").allInnerTexts();
      heads.forEach((head, at) => assert.ok(head.startsWith(`${"AB"[at]} ${labels[at].split("{control}")[0]}`), head));
      assert.equal(heads.length, runs.length);
      assert.equal(await text(page, "#play"), lesson ? "Play" : "Pause", "it plays, but for a lesson that waits for a guess");
      if (lesson) await page.locator("#lesson button").first().click();
      assert.ok((await page.locator("#look").evaluate((place) => place.textContent)).startsWith(look.split("{control}")[0]));
      assert.match(await text(page, "#outcome"), /^Mean of 10 seeds: .+ ± .+ \(A\), .+ ± .+ \(B\)\.$/);
      assert.equal((await page.locator("#printed").textContent()).includes("In print"), printed !== undefined);
      await page.waitForFunction(() => [...document.querySelectorAll(".score td")].some((cell) => /\d.* ▲/.test(cell.textContent)), undefined, { timeout: 60_000 });
      assert.equal(await page.locator(".score .wins").count(), 1, "▲ stands at one figure, the one that the question asks for");
      const height = await page.evaluate(() => document.getElementById("more").getBoundingClientRect().bottom);
      assert.ok(height <= 800, `the page is ${height} pixels tall`);
      assert.deepEqual(said, []);
      await page.close();
    });
  }

  test("the queues of a shared memory stand beside each other, and a click shows another port", async () => {
    const { page, said } = await open("phone", { hash: "#memory" });
    const rows = await page.locator(".panel").first().locator(".ports li").allInnerTexts();
    assert.ok(rows.length >= 3 && rows.some((row) => row.includes("to-aggregator answers")), rows.join("; "));
    assert.match(await text(page, ".ports p"), /Memory chip: [\d,]+ of [\d,]+ cells; pool/);
    await fits(page);
    await page.locator(".ports button", { hasText: "to-store1 bulk" }).first().click();
    await page.waitForSelector('.ports button[aria-pressed="true"]:has-text("to-store1")');
    const again = await open("wide", { hash: new URL(page.url()).hash });
    assert.deepEqual(await facts(again.page), await facts(page), "the link shows the same port");
    assert.deepEqual(said, []);
    await page.close();
    await again.page.close();
  });

  for (const size of Object.keys(sizes)) {
    for (const colorScheme of ["light", "dark"]) {
      test(`axe finds nothing to object to (${size}, ${colorScheme})`, async () => {
        const { page } = await open(size, { colorScheme, hash: "#multi-hop" });
        await click(page, "drop");
        await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
        await page.waitForTimeout(800); // a loss fades in
        await page.addScriptTag({ path: axe });
        const { violations, passes } = await page.evaluate(() => window.axe.run());
        const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
        assert.deepEqual(told, []);
        assert.ok(passes.length > 20);
        await page.close();
      });
    }
  }

  test("every control can be reached and used by keyboard", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
    const reached = new Set();
    for (let presses = 0; presses < 140; presses++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement?.id ?? ""));
    }
    const wanted = ["preset", "play", "start", "back", "unit", "frame", "drop", "mark", "trip", "difference", "time", "pace", "command", "link", "png", "svg", "csv", "toml"];
    assert.deepEqual(wanted.filter((id) => !reached.has(id)), []);
    await page.evaluate(() => document.activeElement.blur());
    for (const [key, id] of [["f", "frame"], ["d", "drop"], ["r", "trip"], ["x", "difference"]]) {
      const before = await text(page, "#now");
      await page.keyboard.press(key);
      await page.waitForFunction((old) => document.getElementById("now").textContent !== old, before);
      assert.ok(id);
    }
    await page.focus("#unit");
    const before = await text(page, "#now");
    await page.keyboard.press("Enter");
    await page.waitForFunction((old) => document.getElementById("now").textContent !== old, before);
    await page.keyboard.press("?");
    assert.ok(await page.locator("#keys p").isVisible());
    await page.close();
  });

  test("where motion is not wanted, the page opens where something is seen, play makes a step and nothing moves", async () => {
    const { page } = await open("wide", { reducedMotion: "reduce", hash: "#marks" });
    assert.ok(Number(/^([\d,.]+)/.exec((await facts(page))[0])[1].replaceAll(",", "")) > 0, "the buffer is not empty");
    const frames = () =>
      page.evaluate(() => {
        let asked = 0;
        const real = window.requestAnimationFrame;
        window.requestAnimationFrame = (act) => ((asked += 1), real(act));
        return new Promise((resolve) => setTimeout(() => resolve(asked), 600));
      });
    await click(page, "play");
    assert.equal(await text(page, "#play"), "Play");
    await click(page, "drop");
    assert.equal(await frames(), 0, "no frame is asked for");
    await page.close();
  });

  for (const size of Object.keys(sizes)) {
    test(`the work per frame while the local network plays (${size})`, async () => {
      const { page } = await open(size, { hash: "#marks", as: "found" });
      await page.waitForTimeout(500);
      await traced(page, ["devtools.timeline", "disabled-by-default-devtools.timeline"]);
      await page.waitForTimeout(4000);
      const { script, thread } = perFrame(await traceEnd());
      const told = (work) => [0.5, 0.95].map((part) => `p${100 * part} ${work[Math.floor(part * (work.length - 1))]?.toFixed(1)} ms`).join(", ");
      console.log(`${size}: own work per frame ${told(script)}; with layout and painting ${told(thread)}; ${script.length} frames in 4 s`);
      assert.ok(script.length > 3, "it plays");
      await page.close();
    });
  }

  test("takes pictures where they are wanted", { skip: pictures ? false : "PICTURES names no folder" }, async () => {
    mkdirSync(pictures, { recursive: true });
    for (const name of (process.env.SHOWN ?? "lan,chip,gfr").split(",")) {
      for (const size of Object.keys(sizes)) {
        for (const colorScheme of ["light", "dark"]) {
          const { page } = await open(size, { colorScheme, hash: `#${name}` });
          await click(page, process.env.STEP ?? "drop");
          await page.waitForTimeout(900);
          await page.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png`, fullPage: true });
          await page.close();
        }
      }
    }
  });
});

/** Milliseconds of processor time between two frames, in order of size: of the page's script, and of its whole thread. */
function perFrame(events) {
  const frames = events.filter(({ name }) => name === "FireAnimationFrame");
  const { pid, tid } = frames[0] ?? {};
  const own = events.filter((event) => event.pid === pid && event.tid === tid && event.ph === "X");
  const times = frames.map(({ ts }) => ts).sort((a, b) => a - b);
  const starts = times.filter((ts, at) => at === 0 || ts - times[at - 1] > 4000); // several callbacks share a frame
  const between = (names) => {
    const tasks = own.filter(({ name }) => names.includes(name));
    const sum = (from, to) => tasks.filter(({ ts }) => ts >= from && ts < to).reduce((all, { tdur, dur }) => all + (tdur ?? dur), 0);
    return starts.slice(1).map((end, at) => sum(starts[at], end) / 1000).sort((a, b) => a - b);
  };
  return { script: between(["HandlePostMessage", "FireAnimationFrame", "TimerFire"]), thread: between(["RunTask"]) };
}
