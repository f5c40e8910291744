// Why a frame was lost: earlier decisions of its port that would have saved it, and what if one of them had been different.

import type { Decision, Question, Why } from "./protocol";
import type { Run } from "./run";
import type { Task } from "./task";
import { count, instant, picoseconds } from "./words";

/** Decisions before the loss that are tried at a click: each is a run of its own. `pushout why` tries as many. */
export const TRIED = 200;
/** Decisions that are tried first; each further part takes about `PART` milliseconds. */
const [FIRST, PART] = [5, 1500];
/** Decisions that are listed. */
const LISTED = 4;

/** What has been found so far. */
export interface Search extends Why {
  /** The decisions before the arrival of the frame that have been tried. */
  skip: number;
  /** Whether these are all. */
  isComplete: boolean;
}

/**
 * Try the decisions before a loss in parts, the latest first, from where an earlier search has ended; `shown` gets what has been
 * found so far. A search that is cancelled keeps it.
 */
export async function search(
  ask: (question: Question) => Promise<Why>,
  question: Omit<Question, "last" | "skip">,
  task: Task,
  earlier: Search | undefined,
  shown: (found: Search) => void,
): Promise<void> {
  const from = earlier?.skip ?? 0;
  let found: Search = earlier ?? { decisions: 0, losses: 0, saves: [], skip: 0, isComplete: false };
  let part = FIRST;
  task.report(0);
  while (found.skip < from + TRIED && !found.isComplete) {
    const before = performance.now();
    const last = Math.min(part, from + TRIED - found.skip);
    const next = await ask({ ...question, last, skip: found.skip });
    task.check();
    found = {
      decisions: found.decisions + next.decisions,
      losses: next.losses,
      saves: [...found.saves, ...next.saves],
      skip: found.skip + last,
      isComplete: next.decisions < last,
    };
    shown(found);
    task.report((found.skip - from) / TRIED);
    part = Math.max(FIRST, Math.round(Math.min(4, PART / Math.max(1, performance.now() - before)) * last));
  }
}

/** Decisions that would have saved the frame, those with the fewest losses first. */
export function best({ saves }: Why): Decision[] {
  return [...saves].sort((a, b) => a.losses - b.losses || b.time_s - a.time_s).slice(0, LISTED);
}

/** Overrides with which a port loses one frame as well, beside the losses by intent that the run has. */
export function without({ flow, number }: Decision, port: string, losses: string[], sets: string[]): string[] {
  const loss = `{ link = ${JSON.stringify(port)}, flow = ${JSON.stringify(flow)}, frames = [${number}] }`;
  return [...sets.filter((set) => !/^loss\b/.test(set)), `loss=[${[...losses, loss].join(", ")}]`];
}

/** The frame that the last override refuses, in words. */
export function refused(sets: string[] = []): string | undefined {
  const found = /^loss=\[.*\{ link = "[^"]*", flow = "([^"]*)", frames = \[(\d+)\] \}\]$/.exec(sets.at(-1) ?? "");
  return found ? `without frame ${found[2]} of ${found[1]}` : undefined;
}

/** What the engine has found so far, with a button for each of the best decisions, and one that tries earlier ones. */
export function answer(place: HTMLElement, why: Search, ask: (decision: Decision) => void, more: () => void): void {
  const text = document.createElement("p");
  const { decisions, saves, losses, isComplete } = why;
  const which = `the ${count(decisions)} decisions before`;
  text.textContent =
    saves.length === 0
      ? `None of ${which} would have saved it alone.`
      : `${count(saves.length)} of ${which} would have saved it (outlined in the strip). What if the port had refused`;
  const buttons = best(why).map((decision) =>
    button(
      `frame ${decision.number} of ${decision.flow} at ${instant(picoseconds(decision.time_s))}: ${count(decision.losses)} losses, not ${count(losses)}`,
      () => ask(decision),
    ),
  );
  place.replaceChildren(text, ...buttons, ...(isComplete ? [] : [button("Try earlier decisions", more)]));
}

function button(words: string, act: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.onclick = act;
  return made;
}

/** The frames of these decisions in a run, to find their units in the buffer. */
export function framesOf(run: Run, { saves }: Why): Set<string> {
  const circuit = new Map(run.scenario.circuits.map((flow, at) => [flow, at]));
  return new Set(saves.map(({ flow, number }) => `${circuit.get(flow)} ${number - 1}`));
}
