// A policy of the reader's own, as `pushout lab lan --policy smooth.py` puts it into the page; tests/test_lab.py makes the same offer.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { scenario } from "../../presets.mjs";
import { engine } from "../engine.mjs";
import { labelled, open, scrub, skip, text, withBrowser, withGiven } from "./browser.mjs";

const [offer] = JSON.parse(readFileSync(new URL("../own/offer.json", import.meta.url), "utf8"));
const lan = scenario("lan");

describe("a policy in Python", { skip }, () => {
  withBrowser();
  withGiven([{ ...offer, text: lan }]);

  test("it is run A, named in heading and command, and its state is a chart as in a run", async () => {
    const { page, said } = await open("wide", {});
    const heads = await page.locator(".panel h2").allInnerTexts();
    assert.deepEqual(heads, ["A smooth, gain 0.002, limit 60 %", "B epd"]);
    const [a, b] = (await text(page, "#command")).split("\n");
    assert.equal(a, "pushout run lan --policy bottleneck=smooth.py --set 'duration=\"2 s\"' --set 'warmup=\"500 ms\"'");
    assert.equal(b, "pushout run lan --set 'duration=\"2 s\"' --set 'warmup=\"500 ms\"'");
    assert.deepEqual(await page.locator("#charts figcaption").allInnerTexts(), ["Queue (cells)", "Congestion windows of 3 of 10 flows (bytes)", "average (kept by the policy)"]);
    const ask = await engine();
    const sets = [...offer.runs[0], 'measure.state=["bottleneck"]', "sample=1 ms"];
    const { ports } = JSON.parse(ask({ do: "run", text: lan, name: "lan", sets }));
    const { start_s, step_s, figures } = ports.find(({ name }) => name === "bottleneck").state;
    const average = figures.find(({ name }) => name === "average").values[Math.round((1 - start_s) / step_s)];
    await scrub(page, 500);
    await labelled(page.locator("#charts .uplot").nth(2), `average (kept by the policy): average A ${Number(average.toPrecision(4))}`);
    assert.deepEqual(said, []);
    await page.close();
  });

  test("it opens playing, less than a second before the first difference", async () => {
    const { page } = await open("wide", { as: "found" });
    assert.equal(await text(page, "#play"), "Pause");
    await page.click("#play");
    const seconds = async (id) => Number(/([\d. ]+) s/.exec(await text(page, id))[1].replaceAll(" ", ""));
    const now = await seconds("#now");
    await page.click("#difference");
    await page.waitForFunction(() => document.getElementById("message").textContent.startsWith("First difference"));
    const found = await seconds("#message");
    const pace = 10 ** Number(await page.locator("#pace").inputValue());
    assert.ok(found > 0.1 && now > found - pace, `${now} s, and the first difference at ${found} s`);
    await page.close();
  });

  test("its parameters can be changed, and B can have it too", async () => {
    const { page } = await open("wide", {});
    const form = (run) => page.locator(".more").nth(run).locator(".policy").first();
    await form(0).locator("details").first().locator("summary").click();
    const gain = form(0).getByLabel("gain");
    assert.deepEqual([await gain.inputValue(), await gain.getAttribute("max")], ["0.002", "1"]);
    await gain.fill("0.5");
    await page.keyboard.press("Tab");
    await page.waitForFunction(() => document.getElementById("command").textContent.includes("params.gain=0.5"));
    assert.match(await text(page, "#command"), /^pushout run lan --policy bottleneck=smooth.py .* --set 'port.bottleneck.admission.params.gain=0.5'\n/);
    assert.equal(await text(page, ".panel h2"), "A smooth");
    await form(1).locator("select").first().selectOption("program");
    await page.waitForFunction(() => document.querySelectorAll(".panel h2")[1]?.textContent === "B smooth");
    assert.match((await text(page, "#command")).split("\n")[1], /--policy bottleneck=smooth.py/);
    await form(0).locator("select").first().selectOption("ppd");
    await page.waitForFunction(() => document.querySelector(".panel h2")?.textContent === "A ppd");
    assert.doesNotMatch((await text(page, "#command")).split("\n")[0], /smooth|gain/);
    await page.close();
  });

  test("state of policies of the catalogue is charted in the drawer and stands in the table", async () => {
    const { page } = await open("wide", { hash: "#home" });
    const titles = await page.locator("#more-charts figcaption").allInnerTexts();
    assert.ok(titles.includes("count (kept by the policy)") && titles.includes("dropping (kept by the policy)"), titles.join());
    const chart = page.locator("#more-charts .uplot").nth(titles.indexOf("count (kept by the policy)"));
    let count = "";
    for (const place of [100, 150, 200, 250, 300, 400, 500, 600, 700, 800]) { // CoDel counts only while it drops
      await scrub(page, place);
      await page.waitForTimeout(150); // charts follow the instant within a tenth of a second
      count = await chart.getAttribute("aria-label");
      if (/count B [1-9]/.test(count)) break;
    }
    assert.match(count, /^count \(kept by the policy\): count B [1-9]\d*$/);
    await page.locator("#table summary").click();
    await page.waitForFunction(() => document.querySelectorAll("#table th").length > 0);
    const heads = await page.locator("#table th").allInnerTexts();
    assert.ok(heads.includes("state_count_queue_0") || heads.includes("state_count"), heads.join());
    await page.close();
  });
});
