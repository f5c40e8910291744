// Parts of the page without a browser: figures on a common axis of time, lengths of the engine, winners, slow motion.

import assert from "node:assert/strict";
import { test } from "node:test";
import { part } from "./part.mjs";

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

test("a run is better only in the figure that was asked for, and only if the seeds agree", async () => {
  const { figures, figureOf, jain, winner } = await part("score");
  const [lost, goodput, marked] = figures(["lost", "goodput", "marked"]);
  const outcome = (path, a, b, difference) => ({ path, seeds: 10, a, b, difference });
  const losses = outcome("ports.in.lost", [10, 1], [0, 0], [-10, 1]);
  assert.equal(winner(lost, losses), 1);
  assert.equal(winner(goodput, losses), undefined, "the question does not ask for it");
  assert.equal(winner(lost, undefined), undefined, "no seeds");
  assert.equal(winner(lost, outcome("ports.in.lost", [10, 9], [5, 9], [-5, 6])), undefined, "the seeds do not agree");
  assert.equal(winner(goodput, outcome("summary.goodput_bps", [10, 1], [0, 1], [-10, 1])), 0);
  assert.equal(winner(marked, outcome("ports.in.marked", [10, 1], [0, 1], [-10, 1])), undefined, "more marks are neither better nor worse");
  const promised = { label: "stream", path: "flows.a.goodput_bps", unit: "rate", promise: 8 };
  assert.equal(winner(promised, outcome("flows.a.goodput_bps", [7, 1], [12, 1], [5, 1])), 0, "the nearer one");
  const document = { ports: [{ name: "a.b", lost: { early: 2, overflow: 3 } }], summary: { goodput_ratio: 0.5 } };
  assert.equal(figureOf({ ports: [{ name: "in", lost: { early: 2, overflow: 3 } }] }, "ports.PORT.lost", "in"), 5);
  assert.equal(figureOf(document, "summary.goodput_ratio", "in"), 0.5);
  assert.equal(figureOf(document, "ports.PORT.lost", "in"), undefined);
  assert.equal(jain([1, 1, 1, 1]), 1);
  assert.equal(jain([1, 0, 0, 0]), 0.25);
});

test("figures have units, and an interval has that of its mean", async () => {
  const { interval, written } = await part("score");
  assert.equal(written("room", 87_773, "bytes"), "87.8 kB");
  assert.equal(written("room", 5076, "cells"), "5,076 cells");
  assert.equal(written("count", undefined, "bytes"), "–");
  assert.equal(interval("room", 101_800, 2994, "bytes"), "102 ± 3 kB");
  assert.equal(interval("time", 0.2147, 9.135e-5, "bytes"), "214.7 ± 0.091 ms");
  assert.equal(interval("rate", 12e6, 1.2e6, "bytes"), "12 ± 1.2 Mb/s");
  assert.equal(interval("count", 0, 0, "cells"), "0 ± 0");
});

test("a command names a scenario that is not shipped by its file", async () => {
  const { command } = await part("files");
  assert.equal(command({ file: "lan" }, ["duration=1 s"]), "pushout run lan --set 'duration=1 s'");
  assert.equal(command({ file: "studies/003-gfr/gfr" }, []), "pushout run studies/003-gfr/gfr.toml");
  assert.equal(command({ file: "uplink.toml" }, ["seed=7"]), "pushout run uplink.toml --seed 7");
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
  assert.ok(pace.at(9000, true) > 4 * pace.base, "an empty buffer passes quickly");
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
