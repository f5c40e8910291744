// Every experiment of the page: figures, differences and events come soon, and its outcome is that of its runs.
// ENGINE is the module. SEEDS=all runs all seeds of every outcome, which takes minutes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { experiments, scenario } from "../presets.mjs";
import { engine } from "./engine.mjs";
import { part } from "./part.mjs";

const PICOSECONDS = 1e12;
/** Seconds of watching: to the first difference, to the first event, and before the first difference. */
const [DIFFERENCE, EVENT, BEFORE] = [3, 8, 1];
/** Experiments whose outcome is measured again in every test. */
const QUICK = new Set(["marks", "incast", "random"]);
/** Without its cause, at most this part of an outcome remains. */
const REMAINS = 4;

const own = experiments().filter(({ lesson }) => !lesson);

async function opened(preset) {
  const ask = await engine();
  const asked = (request) => {
    const answer = JSON.parse(ask(request));
    assert.equal(answer.error, undefined, answer.error);
    return answer;
  };
  const text = { text: scenario(preset.file), name: preset.file };
  const port = preset.port ? { port: preset.port } : {};
  preset.runs.forEach((sets) => asked({ do: "open", ...text, sets, ...port }));
  return { asked, text };
}

for (const preset of own) {
  const { name, from, pace, control, runs, labels, outcome } = preset;
  const instant = Math.round(from * PICOSECONDS);
  /** Picoseconds after this time of watching. */
  const after = (watched) => Math.round((from + watched * pace) * PICOSECONDS);

  test(`${name} shows its first difference within ${DIFFERENCE} s, and opens at most ${BEFORE} s before it`, async () => {
    const { asked } = await opened(preset);
    const { difference } = asked({ do: "difference", a: 1, b: 2, until: after(DIFFERENCE) });
    assert.ok(difference !== null && difference.time <= after(BEFORE), `${difference?.time} after ${after(BEFORE)}`);
    if (difference.time >= instant) return;
    const [a, b] = [1, 2].map((handle) => asked({ do: "go", handle, to: instant, have: 0 }));
    assert.notDeepEqual(a.memory ?? a.units, b.memory ?? b.units, "what is on the screen at the opening instant differs");
  });

  test(`${name} shows a loss, a mark or a pause within ${EVENT} s`, async () => {
    const { asked } = await opened(preset);
    const times = [1, 2].flatMap((handle) => {
      asked({ do: "go", handle, to: instant, have: 0 });
      return ["drop", "mark"].map((event) => asked({ do: "when", handle, event, until: after(EVENT) }).time ?? Infinity);
    });
    const paused = name === "pause" || Math.min(...times) > after(EVENT) ? firstPause(asked, 2, instant, after(EVENT)) : Infinity;
    assert.ok(Math.min(...times, paused) <= after(EVENT), String(times));
    if (name === "pause") assert.ok(paused <= after(EVENT), "it is about pauses: one is seen within the time, not only losses");
  });

  test(`${name} says what differs, and its control changes a run`, () => {
    assert.equal(labels.length, runs.length);
    assert.notEqual(labels[0], labels[1]);
    if (!control) return;
    const run = control.run ?? 1;
    assert.ok(runs[run].some((set) => set.startsWith(`${control.key}=`)), "the run has the key");
    assert.ok(preset.look.includes("{control}") && labels[run].includes("{control}"));
  });

  test(`${name} has an outcome beyond its interval, which runs give`, { timeout: 600_000 }, async () => {
    const [mean, half] = outcome.difference;
    assert.ok(Math.abs(mean) > half, `${mean} ± ${half}`);
    if (!QUICK.has(name) && process.env.SEEDS !== "all") return;
    await measured(preset, runs, outcome);
  });

  test(`${name} has a counter-run: without the cause that it names, its outcome is gone`, { timeout: 600_000 }, async () => {
    const { text, sets, difference } = preset.counter;
    assert.ok(text.endsWith(".") && sets.length > 0);
    assert.ok(Math.abs(difference[0]) <= Math.abs(outcome.difference[0]) / REMAINS, `${difference[0]} of ${outcome.difference[0]}`);
    const without = runs.map((own) => [...own, ...sets]);
    const { asked, text: own } = await opened({ ...preset, runs: without });
    const [a, b] = without.map((sets) => asked({ do: "toml", ...own, sets }).text);
    assert.notEqual(a, b, "the two runs still differ in what they compare");
    if (QUICK.has(name) || process.env.SEEDS === "all") await measured(preset, without, preset.counter);
  });
}

const pushout = process.env.PUSHOUT;
const root = new URL("../..", import.meta.url);

test("every printed command does what it says", { skip: pushout ? false : "PUSHOUT names no command", timeout: 600_000 }, async () => {
  const { command } = await part("files");
  for (const preset of own) {
    for (const sets of preset.runs) {
      const line = command(preset, [...sets, "duration=20 ms", "warmup=0 s"]).replace(/^pushout/, '"$PUSHOUT"');
      const { status, stderr } = spawnSync("sh", ["-c", line], { cwd: root, encoding: "utf8" });
      assert.equal(status, 0, `${line}\n${stderr}`);
    }
  }
});

/** Many seeds give these means, intervals and differences. */
async function measured(preset, runs, written) {
  const { asked, text } = await opened(preset);
  const { seeds: count, path } = preset.outcome;
  const seeds = Array.from({ length: count }, (_, at) => String(at + 1));
  const [a, b] = runs.map((sets) => seeds.map((seed) => figure(asked({ do: "run", ...text, sets, seed }), path)));
  for (const [values, [mean, half]] of [[a, written.a], [b, written.b], [a.map((value, at) => b[at] - value), written.difference]]) {
    const [found, interval] = meanOf(values);
    isWritten(found, mean);
    isWritten(interval, half);
  }
}

test("most of the ten flows lose packets in the round trip in which slow start fills the buffer, in both runs", async () => {
  const { asked } = await opened(own.find(({ name }) => name === "together"));
  for (const handle of [1, 2]) {
    const { time } = asked({ do: "when", handle, event: "drop" });
    const hit = new Set();
    for (const to of [time, time + 0.04 * PICOSECONDS]) { // the round trip with a full buffer
      const { records } = asked({ do: "go", handle, to, have: 1e9 });
      for (let at = 0; at < records.length; at += 7) if (records[at + 1] > 1) hit.add(records[at + 2]);
    }
    assert.ok(hit.size > 5, `${hit.size} flows in run ${handle}`);
  }
});

test("the line that changes has its rate over the run, and others have none", async () => {
  const preset = own.find(({ name }) => name === "cellular");
  const ask = await engine();
  const open = (file, sets, port) => JSON.parse(ask({ do: "open", text: scenario(file), name: file, sets, port })).scenario;
  const { course } = open("cellular", preset.runs[0], "radio");
  assert.equal(course.length, 400);
  const mean = course.reduce((sum, rate) => sum + rate, 0) / course.length;
  assert.ok(mean > 10e6 && mean < 20e6, `${mean} b/s`);
  assert.ok(Math.max(...course) < 21.5e6 && Math.min(...course) < 3e6);
  assert.equal(open("lan", [], undefined).course, null);
});

/** The first instant at which a picture shows a stopped line, in steps of 100 µs. */
function firstPause(asked, handle, from, until) {
  for (let to = from; to <= until; to += 1e8) {
    if (asked({ do: "go", handle, to, have: 2001 }).paused.some(Boolean)) return to;
  }
  return Infinity;
}

test("DCTCP marks are those of DCTCP: its senders, in a round trip of the data centre", async () => {
  const { asked, text } = await opened(own.find(({ name }) => name === "marks"));
  const marks = own.find(({ name }) => name === "marks");
  for (const sets of marks.runs) {
    assert.match(asked({ do: "toml", ...text, sets }).text, /congestion = "dctcp"/);
    const { ports } = asked({ do: "run", ...text, sets });
    const wait = ports.find(({ name }) => name === "bottleneck").occupancy_mean / (10e9 / 8);
    assert.ok(wait < 1e-3, `packets wait ${wait} s`);
  }
});

test("every scenario of the lecture is one of the experiments, with a guess that is right", () => {
  const lessons = experiments().filter(({ lesson }) => lesson);
  assert.equal(lessons.length, 7);
  for (const { lesson, question } of lessons) assert.ok(lesson.guesses[lesson.right] && question.includes("?") && lesson.answer.length > 20);
});

/** A figure is written with four digits. */
function isWritten(found, written) {
  assert.ok(Math.abs(found - written) <= 6e-4 * Math.abs(written), `${found}, not ${written}`);
}

/** A figure of a document; counts by reason are added up. */
function figure(document, path) {
  const found = path.split(".").reduce((place, part) => (Array.isArray(place) ? place.find(({ name }) => name === part) : place[part]), document);
  return typeof found === "number" ? found : Object.values(found).reduce((sum, count) => sum + count, 0);
}

/** The mean, and half of its 95 % interval by Student's t with nine degrees of freedom. */
function meanOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return [mean, 2.262 * Math.sqrt(variance / values.length)];
}
