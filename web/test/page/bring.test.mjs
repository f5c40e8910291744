// Scenarios that the reader brings: chosen, dropped, pasted; a second run; the counter-run of an experiment.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { experiments, scenario } from "../../presets.mjs";
import { open, sizes, skip, text, withBrowser } from "./browser.mjs";

const uplink = scenario("home-uplink");
const named = (name) => uplink.replace('name = "home-uplink"', `name = "${name}"`);
const file = { name: "my-uplink.toml", mimeType: "text/plain", buffer: Buffer.from(uplink) };

/** Let the page get a file or a text, as by a drop or a paste. */
function give(page, kind, data) {
  return page.evaluate(
    ([kind, { name, text }]) => {
      const carried = new DataTransfer();
      if (name) carried.items.add(new File([text], name));
      else carried.setData("text/plain", text);
      const init = { bubbles: true, cancelable: true };
      const event = kind === "drop" ? new DragEvent(kind, { ...init, dataTransfer: carried }) : new ClipboardEvent(kind, { ...init, clipboardData: carried });
      document.body.dispatchEvent(event);
    },
    [kind, data],
  );
}

const opened = (page, name) => page.waitForFunction((name) => document.getElementById("preset").value === name, name);

describe("a scenario of the reader's own", { skip }, () => {
  withBrowser();

  for (const size of Object.keys(sizes)) {
    test(`runs when its file is chosen (${size})`, async () => {
      const { page, said } = await open(size, { hash: "#marks" });
      const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.click("#bring")]);
      await chooser.setFiles(file);
      await opened(page, "my-uplink");
      assert.equal(await text(page, "#play"), "Pause", "it plays");
      await page.click("#play");
      assert.match(await page.locator("#command").textContent(), /^pushout run my-uplink\.toml$/);
      const again = await open(size, { hash: new URL(page.url()).hash });
      await opened(again.page, "my-uplink");
      assert.deepEqual(said, []);
      await page.close();
      await again.page.close();
    });
  }

  test("runs when its file is dropped, or its text, or the text is pasted", async () => {
    const { page, said } = await open("wide", { hash: "#marks" });
    await give(page, "drop", { name: "other.toml", text: named("a") });
    await opened(page, "other");
    await give(page, "drop", { text: named("b") });
    await opened(page, "dropped");
    await give(page, "paste", { text: named("c") });
    await opened(page, "pasted");
    await give(page, "paste", { text: named("d") });
    await opened(page, "pasted 2");
    assert.deepEqual(said, []);
    await page.close();
  });

  test("is refused with place and reason, and what was shown stays", async () => {
    const { page } = await open("wide", { hash: "#marks" });
    const shown = await text(page, ".panel h2");
    await give(page, "paste", { text: uplink.replace("[[flow]]", "[[flwo]]") });
    await page.waitForSelector("#message.wrong");
    assert.match(await text(page, "#message"), /flwo/);
    assert.equal(await text(page, ".panel h2"), shown);
    await give(page, "paste", { text: "x".repeat(1_000_001) });
    await page.waitForFunction(() => document.getElementById("message").textContent.includes("at most 1000000 letters"));
    await page.close();
  });

  test("a second run is compared with it", async () => {
    const { page } = await open("wide", { hash: "#marks" });
    await give(page, "drop", { name: file.name, text: uplink });
    await opened(page, "my-uplink");
    await page.getByRole("button", { name: "Compare with another policy" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".panel h2").length === 2);
    const admission = page.locator(".more").nth(1).locator(".policy").first().locator("select").first();
    await admission.selectOption("codel");
    await page.waitForFunction(() => document.querySelectorAll(".panel h2")[1]?.textContent === "B codel");
    assert.equal(await page.locator(".score .wins").count(), 0, "one seed has no winner");
    await page.close();
  });
});

describe("the counter-run of an experiment", { skip }, () => {
  withBrowser();

  test("is told with its figures, and shown at a click", async () => {
    const { counter } = experiments().find(({ name }) => name === "marks");
    const { page } = await open("wide", { hash: "#marks" });
    assert.ok((await text(page, "#counter")).startsWith(`Without the cause: ${counter.text} Mean of 10 seeds: lost here `));
    await page.locator("#counter button").click();
    await page.waitForFunction((set) => document.getElementById("command").textContent.includes(set), counter.sets[0]);
    assert.equal(await page.locator("#outcome").textContent(), "", "the outcome is of the other runs");
    await page.close();
  });
});
