// The network of a run in a line: dots that grow with rates, and of many flows those that pass the port in view.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { describe, test } from "node:test";
import { scenario } from "../../presets.mjs";
import { engine } from "../engine.mjs";
import { open, skip, text, withBrowser, withGiven } from "./browser.mjs";

const sets = ["duration=200 ms", "warmup=0 s"];
const many = scenario("w3-100");
/** The most octets of the page. */
const LARGEST = 2.2e6;

test("the page is small enough to be sent to others", { skip: process.env.LAB ? false : "LAB names no page" }, () => {
  const { size } = statSync(process.env.LAB);
  assert.ok(size <= LARGEST, `${size} octets`);
});

const ask = skip ? undefined : await engine();

describe("the sketch of the network", { skip }, () => {
  withBrowser();
  const { scenario: shown } = JSON.parse(ask({ do: "open", text: many, name: "w3-100", sets }));
  const passing = (port) => JSON.parse(ask({ do: "open", text: many, name: "w3-100", sets, port })).scenario;
  const narrow = shown.ports.map(({ name }) => name).find((name) => passing(name).passing.length === 1);
  withGiven([{ name: "given 1", title: "A hundred flows", look: "", file: "w3-100", text: many, runs: [sets], port: narrow }]);

  test("of a hundred flows it shows those that pass the port", async () => {
    assert.equal(shown.flows.length, 100);
    const { page, said } = await open("wide", {});
    const [flow] = passing(narrow).passing;
    assert.equal(await page.locator(".sketch circle").count(), 2, "a flow, and the receivers");
    assert.match(await page.locator(".sketch").getAttribute("aria-label"), new RegExp(`^1 of 100 flows to port ${narrow} at `));
    assert.match(await text(page, ".key span"), new RegExp(`^${shown.flows[flow]} `));
    assert.deepEqual(said, []);
    await page.close();
  });

  test("a dot grows with the rate of its flow", async () => {
    const { page } = await open("wide", { hash: "#marks", as: "found" });
    await page.waitForFunction(() => Math.max(...[...document.querySelectorAll(".sketch:first-of-type circle:not(.box)")].map((dot) => Number(dot.getAttribute("r")))) > 6);
    await page.close();
  });
});
