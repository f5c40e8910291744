// Every shipped scenario gives in WebAssembly the same bytes as natively: its document, and pictures on the way. So do
// policies written in Python, which are part of a scenario.
// ENGINE is the module, ANSWER the native program; `make wasm` names both.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { engine } from "./engine.mjs";

const { ANSWER } = process.env;
const folder = new URL("../../scenarios/", import.meta.url);
/** Switch chips at 40 Gb/s and more, where a hundredth of the time is enough. */
const FAST = new Set(["tomahawk.toml", "tomahawk-5.toml", "trident-2.toml", "trident-3.toml"]);

function natively(requests) {
  const { stdout, status } = spawnSync(ANSWER, { input: `${requests.join("\n")}\n`, maxBuffer: 2 ** 30 });
  assert.equal(status, 0, "the native program ends well");
  return stdout.toString().trimEnd().split("\n");
}

/** The document by both engines, two pictures forward, one back, the next events, and the file. */
function requests(name) {
  const scale = FAST.has(name) ? 0.01 : 1;
  const sets = [`duration=${120 * scale} ms`, `warmup=${50 * scale} ms`];
  const scenario = { text: readFileSync(new URL(name, folder), "utf8"), name, sets };
  const go = (millis) => ({ do: "go", handle: 1, to: Math.round(millis * scale * 1e9), have: 0 });
  const asked = [
    { do: "run", ...scenario },
    { do: "run", ...scenario, engine: "reference", seed: 7 },
    { do: "open", ...scenario },
    go(60),
    go(90),
    go(30),
    { do: "when", handle: 1, event: "drop" },
    { do: "when", handle: 1, event: "round-trip" },
    { do: "when", handle: 1, event: "mark", until: Math.round(31 * scale * 1e9) },
    { do: "run", ...scenario, seed: "18446744073709551615" },
    { do: "toml", ...scenario },
    { do: "why", ...scenario, question: { last: 3 } },
    { do: "difference", a: 1, b: 1 },
    { do: "close", handle: 1 },
  ];
  return asked.map((request) => JSON.stringify(request));
}

const names = readdirSync(folder).filter((name) => name.endsWith(".toml") && !name.startsWith("sweep"));
assert.ok(names.length > 10);

for (const name of names) {
  test(`${name} gives the same bytes as natively`, async () => {
    const ask = await engine();
    const asked = requests(name);
    const expected = natively(asked);
    assert.equal(expected.length, asked.length);
    asked.forEach((request, at) => {
      const answer = ask(request);
      assert.ok(!answer.startsWith('{"error"') || answer.includes("lost no frame") || answer.includes("no port lost"), answer);
      assert.ok(answer === expected[at], `${name}: the answer to ${request.slice(0, 40)}… differs`);
    });
  });
}

/** The published schemes that are written in Python, as inline tables of TOML: a number keeps its form. */
function programs() {
  const text = readFileSync(new URL("../../crates/core/tests/equivalence/programs/published.json", import.meta.url), "utf8");
  const entries = [...text.matchAll(/^ "([a-z-]+)": (\{[^]*?^ \})/gm)];
  return entries.map(([, name, table]) => [name, table.replace(/\n */g, " ").replaceAll('": ', '" = ')]);
}

/** The keys of the port, or of the flows, for which a published scheme is. */
function place(name, table) {
  if (table.includes('"on_ack" =')) return [`flows.transport.congestion=${table}`];
  const chooses = { "round-robin": "scheduler", drr: "scheduler", "longest-queue": "pushout" };
  const own = `port.bottleneck.${chooses[name] ?? "admission"}=${table}`;
  return name === "longest-queue" ? [own, "port.bottleneck.scheduler.policy=round-robin"] : [own];
}

test("policies written in Python give the same bytes as natively", async () => {
  const ask = await engine();
  const asked = [];
  for (const [name, table] of programs()) {
    for (const scenario of ["lan.toml", "w1-packet.toml"]) {
      const text = readFileSync(new URL(scenario, folder), "utf8");
      const sets = [...place(name, table), "duration=120 ms", "warmup=20 ms", "flows.start_spread=10 ms"];
      for (const name of ["fast", "reference"]) {
        asked.push(JSON.stringify({ do: "run", text, name: scenario, sets, engine: name, seed: asked.length }));
      }
    }
  }
  assert.ok(asked.length >= 20);
  const expected = natively(asked);
  asked.forEach((request, at) => {
    const answer = ask(request);
    assert.ok(!answer.startsWith('{"error"'), answer);
    assert.ok(answer === expected[at], `the answer to ${request.slice(-200)} differs`);
  });
});
