// The lecture as pages to be printed: each step has its question, guesses, a figure of its runs, and the answer.

import type { Client } from "./client";
import { command } from "./files";
import { PAPER } from "./ink";
import { at } from "./place";
import { svg } from "./picture";
import { type Preset, WATCHED, asked, labelled, seen } from "./presets";
import { Run } from "./run";
import { outcome } from "./sentence";
import type { Task } from "./task";
import { picoseconds, span } from "./words";

/** The share of this time before the figure whose events it shows. */
const LATEST = 1 / 60;

/** Write a page for each lesson, and let the browser print them. */
export async function printLecture(lessons: Preset[], task: Task, engine: Client): Promise<void> {
  const pages: HTMLElement[] = [];
  task.report(0);
  for (const [number, lesson] of lessons.entries()) {
    pages.push(await page(lesson, number, lessons.length, task, engine));
    task.report((number + 1) / lessons.length);
  }
  at("sheets").replaceChildren(...pages);
  document.body.classList.add("lecturing");
  addEventListener("afterprint", clear, { once: true });
  print();
}

/** After printing, the page is as before. */
function clear(): void {
  document.body.classList.remove("lecturing");
  at("sheets").replaceChildren();
}

async function page(preset: Preset, number: number, count: number, task: Task, engine: Client): Promise<HTMLElement> {
  const { lesson, title, question = "", runs: sets } = preset;
  const sheet = document.createElement("section");
  sheet.className = "sheet";
  const labels = sets.map((own, run) => labelled(preset, run, own) ?? "");
  const instant = picoseconds(seen(preset));
  const runs = await opened(preset, instant, task, engine);
  const guesses = document.createElement("ul");
  guesses.append(...(lesson?.guesses ?? []).map((guess) => line("li", `☐ ${guess}`)));
  const figure = document.createElement("figure");
  const motions = runs.map(({ motion }) => motion);
  const shot = { title: "", runs, labels, motions, facts: [], commands: [], inks: PAPER, now: instant, isBrief: true };
  const drawing = new DOMParser().parseFromString(svg(shot), "image/svg+xml").documentElement;
  const caption = line("figcaption", `A ${labels[0]}, B ${labels[1]}, after ${span(instant)}`);
  figure.append(document.importNode(drawing, true), caption);
  const right = lesson?.guesses[lesson.right] ?? "";
  sheet.append(
    line("p", `Pushout lab, step ${number + 1} of ${count}`, "step"),
    line("h2", title),
    line("p", question, "question"),
    guesses,
    figure,
    line("p", `${right}. ${lesson?.answer ?? ""}`, "answer"),
    line("p", outcome(preset, runs[0]?.port.measure ?? ""), "outcome"),
    line("p", sets.map((own) => command(preset, own)).join("\n"), "code"),
  );
  return sheet;
}

/** The runs of a preset at an instant, with the latest events before it. */
async function opened(preset: Preset, instant: number, task: Task, engine: Client): Promise<Run[]> {
  const runs: Run[] = [];
  const from = Math.max(0, instant - picoseconds(WATCHED * LATEST * (preset.pace ?? 0)));
  for (const sets of preset.runs) {
    const run = await Run.open(engine, asked(preset, sets), preset.port);
    await run.go(from, false);
    await run.go(instant, false);
    task.check();
    runs.push(run);
  }
  return runs;
}

function line(kind: string, text: string, name = ""): HTMLElement {
  const made = document.createElement(kind);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}
