// The page on a phone: one screen, one run in view, a swipe shows the other one.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { experiments } from "../../presets.mjs";
import { fits, open, sizes, skip, text, withBrowser } from "./browser.mjs";

const height = (page, selector) => page.locator(selector).first().evaluate((place) => place.getBoundingClientRect().height);

describe("the page on a phone", { skip }, () => {
  withBrowser();

  for (const { name, lesson } of experiments()) {
    test(`the link #${name} fits the screen of a phone`, async () => {
      const { page, said } = await open("phone", { hash: `#${name}`, as: "found" });
      if (lesson) await page.locator("#lesson button").first().click();
      await page.waitForFunction(() => [...document.querySelectorAll(".score tr:last-child td")].some((cell) => /\d/.test(cell.textContent)), undefined, { timeout: 60_000 });
      const { whole, details, bar } = await page.evaluate(() => ({
        whole: document.documentElement.scrollHeight,
        details: document.getElementById("more").getBoundingClientRect().bottom,
        bar: document.getElementById("bar").getBoundingClientRect(),
      }));
      assert.ok(whole <= sizes.phone.height, `the page is ${whole} pixels tall`);
      assert.ok(details <= bar.top, "nothing lies below the bar");
      assert.deepEqual([bar.bottom, bar.height], [sizes.phone.height, 56], "the bar is fixed at the bottom");
      await fits(page);
      const cut = await page.locator(".panel").first().locator(".score").evaluate((table) => table.scrollWidth - table.parentElement.clientWidth);
      assert.ok(cut <= 0, `${cut} pixels of the score are cut`);
      assert.deepEqual(said, []);
      await page.close();
    });
  }

  test("its parts have the heights of a phone", async () => {
    const { page } = await open("phone", { hash: "#marks", as: "found" });
    assert.deepEqual([await height(page, "#preset"), await height(page, ".panel > canvas"), await height(page, ".time")], [44, 120, 120]);
    assert.ok((await height(page, ".panel .scored")) <= 76);
    const bar = await page.locator("#play").boundingBox();
    assert.ok(bar.height >= 44 && bar.x < 20, "Play comes first");
    assert.ok((await page.locator("#now").boundingBox()).x < sizes.phone.width / 2, "the instant is in view");
    await page.close();
  });

  test("a swipe shows run B and a button run A", async () => {
    const { page } = await open("phone", { hash: "#marks", as: "found", hasTouch: true });
    const pressed = () => page.locator("#which button").evaluateAll((buttons) => buttons.map((button) => button.getAttribute("aria-pressed")));
    const inView = (at) => page.waitForFunction((at) => {
      const { left, right } = document.querySelectorAll("#runs > .panel")[at].getBoundingClientRect();
      return left >= 0 && right <= innerWidth;
    }, at);
    assert.match(await text(page, "#which button"), /^A drop above/);
    assert.deepEqual(await pressed(), ["true", "false"]);
    const { x, y, width, height } = await page.locator(".panel canvas").first().boundingBox();
    const session = await page.context().newCDPSession(page);
    const [from, middle] = [x + width - 20, y + height / 2];
    const touch = (type, ...places) => session.send("Input.dispatchTouchEvent", { type, touchPoints: places.map((x) => ({ x, y: middle })) });
    await touch("touchStart", from);
    for (let moved = 0; moved < width - 60; moved += 25) await touch("touchMove", from - moved);
    await touch("touchEnd");
    await inView(1);
    await page.waitForFunction(() => document.querySelectorAll("#which button")[1].getAttribute("aria-pressed") === "true");
    await page.evaluate(() => new Promise((resolve) => { // a swipe rolls on, and would undo a click meanwhile
      const runs = document.querySelector("#runs");
      let [last, frames] = [-1, 0];
      const look = () => {
        frames = runs.scrollLeft === last ? frames + 1 : 0;
        last = runs.scrollLeft;
        if (frames > 20) resolve();
        else requestAnimationFrame(look);
      };
      look();
    }));
    await page.locator("#which button").first().click();
    await inView(0);
    await page.waitForFunction(() => document.querySelectorAll("#which button")[0].getAttribute("aria-pressed") === "true");
    await page.close();
  });

  test("the figure that the question asks for is in view for both runs", async () => {
    const { page } = await open("phone", { hash: "#marks", as: "found" });
    await page.waitForFunction(() => [...document.querySelectorAll("#which small")].every(({ textContent }) => /^lost here [\d,]+$/.test(textContent)));
    await page.close();
  });

  test("one run alone has no buttons, and a wide screen has none", async () => {
    const alone = await open("phone", { hash: `#${encodeURIComponent(JSON.stringify([1, "marks", [[]], 0]))}`, as: "found" });
    assert.ok(await alone.page.locator("#which").isHidden());
    const wide = await open("wide", { hash: "#marks", as: "found" });
    assert.ok(await wide.page.locator("#which").isHidden());
    await alone.page.close();
    await wide.page.close();
  });
});
