// What can be taken from the page is right: pictures, figures, scenarios, the command.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { click, open, skip, text, withBrowser } from "./browser.mjs";

/** The files that a click lets the browser save. */
async function taken(page, id, files = 1) {
  const downloads = [];
  page.on("download", (download) => downloads.push(download));
  await page.click(`#${id}`);
  while (downloads.length < files) await page.waitForTimeout(50);
  const read = async (download) => [download.suggestedFilename(), readFileSync(await download.path())];
  return Promise.all(downloads.map(read));
}

describe("what the page hands out", { skip }, () => {
  withBrowser();

  test("a PNG with both runs", async () => {
    const { page, said } = await open("wide", { hash: "#small-buffer" });
    await click(page, "drop");
    const [[name, octets]] = await taken(page, "png");
    assert.equal(name, "pushout-small-buffer.png");
    assert.equal(octets.subarray(1, 4).toString(), "PNG");
    assert.equal(octets.readUInt32BE(16), 2400, "twice as fine as the screen");
    assert.deepEqual(said, []);
    await page.close();
  });

  test("an SVG with the buffer, the reason of the loss, charts and commands", async () => {
    const { page, said } = await open("phone", { hash: "#small-buffer" });
    await click(page, "drop");
    const [[name, octets]] = await taken(page, "svg");
    assert.equal(name, "pushout-small-buffer.svg");
    const kinds = await page.evaluate((written) => {
      const parsed = new DOMParser().parseFromString(written, "image/svg+xml");
      const count = (kind) => parsed.querySelectorAll(kind).length;
      const words = [...parsed.querySelectorAll("text")].map((each) => each.textContent);
      return { faults: count("parsererror"), rects: count("rect"), lines: count("polyline"), words };
    }, octets.toString());
    assert.equal(kinds.faults, 0);
    assert.ok(kinds.rects > 40 && kinds.lines > 10, JSON.stringify(kinds));
    assert.ok(kinds.words.some((words) => words.startsWith("lost: early")), "the reason of the loss");
    assert.ok(kinds.words.some((words) => words.startsWith("pushout run lan --set")));
    assert.deepEqual(said, []);
    await page.close();
  });

  test("figures up to the instant as CSV, a row for each interval of each run", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
    await click(page, "drop");
    const [[, octets]] = await taken(page, "csv");
    const [heading, ...rows] = octets.toString().trimEnd().split("\r\n").map((line) => line.split(","));
    assert.deepEqual(heading.slice(0, 3), ["run", "time_s", "occupancy_cells"]);
    assert.ok(heading.includes("cwnd_bytes_flow1") && rows.every((row) => row.length === heading.length));
    const now = Number((await text(page, "#now")).replaceAll(/[^\d.]/g, ""));
    const times = rows.map(([, time]) => Number(time));
    assert.ok(Math.max(...times) <= now && rows.filter(([run]) => run === "A").length === rows.length / 2);
    await page.close();
  });

  test("the scenario of each run as TOML, with the command that does the same", async () => {
    const { page } = await open("wide", { hash: "#small-buffer" });
    const files = await taken(page, "toml", 2);
    const commands = (await text(page, "#command")).split("\n");
    files.sort().forEach(([name, octets], at) => {
      assert.equal(name, `pushout-small-buffer-${"ab"[at]}.toml`);
      assert.ok(octets.toString().includes(`# ${commands[at]}\n`));
      assert.match(octets.toString(), /\nname = "lan"\n[^]*\n\[port\.bottleneck\]\n[^]*policy = "(ppd|epd)"/);
    });
    await page.close();
  });
});
