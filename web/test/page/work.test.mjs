// The work for each frame while two buffers of 600 units play: counted, because a clock tells how loaded the machine is.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { experiments } from "../../presets.mjs";
import { open, skip, withBrowser } from "./browser.mjs";

/** Most strokes on canvases, writes to the page and questions that make the browser lay it out, in 95 of 100 frames. */
const MOST = { strokes: 500, writes: 40, layouts: 0 };

/** Count what scripts do, from before the page loads. */
function counting() {
  const counts = (window.counts = { strokes: 0, layouts: 0, writes: 0 });
  const wrap = (kind, prototype, names) => {
    for (const name of names) {
      const real = prototype[name];
      prototype[name] = function (...given) {
        counts[kind] += 1;
        return real.apply(this, given);
      };
    }
  };
  wrap("strokes", CanvasRenderingContext2D.prototype, ["fillRect", "fillText", "stroke", "fill", "lineTo"]);
  wrap("layouts", Element.prototype, ["getBoundingClientRect", "getClientRects"]);
  wrap("layouts", window, ["getComputedStyle"]);
  for (const name of ["clientWidth", "clientHeight", "scrollWidth", "scrollHeight"]) {
    const { get } = Object.getOwnPropertyDescriptor(Element.prototype, name);
    Object.defineProperty(Element.prototype, name, { get() { counts.layouts += 1; return get.call(this); } });
  }
  addEventListener("DOMContentLoaded", () => {
    new MutationObserver((records) => (counts.writes += records.length)).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}

/** What happens in each of many frames. */
function sampled(frames) {
  const before = { ...window.counts };
  const found = [];
  return new Promise((resolve) => {
    const frame = () => {
      found.push(Object.fromEntries(Object.keys(before).map((kind) => [kind, window.counts[kind] - before[kind]])));
      Object.assign(before, window.counts);
      if (found.length < frames) requestAnimationFrame(frame);
      else resolve(found.slice(1));
    };
    requestAnimationFrame(frame);
  });
}

const part = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))];

describe("the work of the page", { skip }, () => {
  withBrowser();

  for (const size of ["wide", "phone"]) {
    test(`a frame with twice 600 units takes little work (${size})`, { timeout: 120_000 }, async () => {
      const sets = [...experiments().find(({ name }) => name === "together").runs[0], "port.bottleneck.buffer=600 packets"];
      const hash = `#${encodeURIComponent(JSON.stringify([1, "together", [sets, sets], 0.59e12]))}`;
      const { page } = await open(size, { hash, as: "found", prepare: (page) => page.addInitScript(counting) });
      for (let halves = 0; halves < 3; halves += 1) await page.keyboard.press("[");
      await page.click("#play");
      await page.waitForTimeout(2500); // the number of units is said every two seconds
      const units = (await page.locator("#news").textContent()).match(/\d+ packets in the buffer/g).map((words) => parseInt(words, 10));
      assert.ok(units.length === 2 && Math.min(...units) > 500, `${units} units`);
      const frames = await page.evaluate(sampled, 120);
      const told = Object.keys(MOST).map((kind) => [kind, part(frames.map((frame) => frame[kind]), 0.5), part(frames.map((frame) => frame[kind]), 0.95)]);
      console.log(`own work per frame (${size}): ${told.map(([kind, half, most]) => `${kind} p50 ${half}, p95 ${most}`).join("; ")}`);
      for (const [kind, , most] of told) assert.ok(most <= MOST[kind], `${most} ${kind} in a frame, more than ${MOST[kind]}`);
      await page.close();
    });
  }
});
