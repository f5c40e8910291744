// Parts of the page without a browser: figures on a common axis of time, lengths of the engine, winners, slow motion.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "lab-"));
after(() => rmSync(folder, { recursive: true }));

/** A module of the page, for this test. */
async function part(name) {
  const outfile = join(folder, `${name}.mjs`);
  await build({ entryPoints: [new URL(`../src/${name}.ts`, import.meta.url).pathname], bundle: true, format: "esm", outfile, logLevel: "error" });
  return import(pathToFileURL(outfile).href);
}

const rows = (every, count) => Array.from({ length: count }, (_, at) => ({ time: at * every * 1e12, occupancy: at }));

test("a run that is half as long has its figures at its own instants", async () => {
  const { aligned } = await part("charts");
  const line = (run) => ({ label: "", stroke: "", run, values: (rows) => rows.map(({ occupancy }) => occupancy) });
  const [times, a, b] = aligned([line({ rows: rows(0.002, 4) }), line({ rows: rows(0.001, 4) })], 0);
  assert.deepEqual([...times], [0, 0.001, 0.002, 0.003, 0.004, 0.006]);
  const at = (column, time) => column[times.indexOf(time)];
  assert.deepEqual([0, 0.002, 0.004, 0.006].map((time) => at(a, time)), [0, 1, 2, 3]);
  assert.deepEqual([0, 0.001, 0.002, 0.003].map((time) => at(b, time)), [0, 1, 2, 3]);
});

test("lengths of the engine from 2 GiB on are not negative", async () => {
  const { unsigned } = await part("engine");
  assert.equal(unsigned(-2147393144), 2147574152);
  assert.equal(unsigned(12), 12);
});

test("a winner is better by more than half a percent", async () => {
  const { figures, figureOf, jain, winner } = await part("score");
  const [lost, goodput] = figures(["lost", "goodput"]);
  assert.equal(winner(lost, [10, 0]), 1);
  assert.equal(winner(goodput, [10, 0]), 0);
  assert.equal(winner(goodput, [1000, 1004]), undefined);
  assert.equal(winner(lost, [0, 0]), undefined);
  assert.equal(winner(lost, [undefined, 1]), undefined);
  const document = { ports: [{ name: "a.b", lost: { early: 2, overflow: 3 } }], summary: { goodput_ratio: 0.5 } };
  assert.equal(figureOf({ ports: [{ name: "in", lost: { early: 2, overflow: 3 } }] }, "ports.PORT.lost", "in"), 5);
  assert.equal(figureOf(document, "summary.goodput_ratio", "in"), 0.5);
  assert.equal(figureOf(document, "ports.PORT.lost", "in"), undefined);
  assert.equal(jain([1, 1, 1, 1]), 1);
  assert.equal(jain([1, 0, 0, 0]), 0.25);
});

test("time is slow after an event, then fast, and slow again only after a while", async () => {
  const { Pace } = await part("pace");
  const pace = new Pace();
  pace.rest(7);
  pace.see(7, 0);
  assert.equal(pace.at(0), pace.base, "nothing has happened");
  pace.see(8, 100);
  assert.ok(pace.at(1200) < pace.base / 2);
  assert.equal(pace.at(1400), pace.base);
  pace.see(9, 2000);
  assert.equal(pace.at(2000), pace.base, "another event follows too soon");
  pace.see(10, 4400);
  assert.ok(pace.isSlow(4500));
});

test("a task with a limit asks when its estimate is above two seconds, and a cancelled one stops", async () => {
  const { Task, TooLong, Cancelled } = await part("task");
  const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  /** A step that takes ten seconds for all of 1000. */
  const slow = () => {
    let last = 0;
    return async (until) => {
      await later(10 * (until - last));
      last = until;
      return false;
    };
  };
  const long = new Task("long", true);
  await assert.rejects(long.slices(0, 1000, slow()), TooLong);
  assert.ok(long.age < 1500 && long.progress < 1);
  await assert.rejects(new Task("stuck", true).within(later(5000)), TooLong);
  const steps = [];
  await new Task("short", true).slices(0, 100, async (until) => (steps.push(until), false));
  assert.equal(steps.at(-1), 100);
  const cancelled = new Task("cancelled", false);
  setTimeout(() => cancelled.cancel(), 50);
  await assert.rejects(cancelled.slices(0, 1000, slow()), Cancelled);
});

test("a link gives back what it was made of, with the text of a scenario or without", async () => {
  const { fromLink, toLink } = await part("link");
  const preset = { preset: "marks", sets: [["seed=2"], []], now: 7, port: "bottleneck" };
  assert.deepEqual(fromLink(toLink(preset)), preset);
  const whole = { preset: "mine", sets: [[]], now: 0, text: 'name = "µ <b>"\n' };
  assert.deepEqual(fromLink(toLink(whole)), whole);
  assert.deepEqual(fromLink(toLink({ ...whole, port: "a" })), { ...whole, port: "a" });
});
