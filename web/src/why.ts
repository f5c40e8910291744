// Why a frame was lost: earlier decisions of its port that would have saved it, and what if one of them had been different.

import type { Decision, Why } from "./protocol";
import type { Run } from "./run";
import { count, instant, picoseconds } from "./words";

/** Decisions before the loss that are tried: each is a run of its own. */
export const TRIED = 20;
/** Decisions that are listed. */
const LISTED = 4;

/** Decisions that would have saved the frame, those with the fewest losses first. */
export function best({ saves }: Why): Decision[] {
  return [...saves].sort((a, b) => a.losses - b.losses || b.time_s - a.time_s).slice(0, LISTED);
}

/** The override that lets a port lose one frame; none if the scenario already has losses by intent. */
export function refusal({ flow, number }: Decision, port: string, scenario: string, sets: string[]): string | undefined {
  if (/\[\[loss\]\]|^loss *=/m.test(scenario) || sets.some((set) => /^loss\b/.test(set))) return undefined;
  return `loss=[{ link = ${JSON.stringify(port)}, flow = ${JSON.stringify(flow)}, packets = [${number}] }]`;
}

/** The frame that an override refuses, in words. */
export function refused(sets: string[] = []): string | undefined {
  const found = sets.map((set) => /^loss=\[\{ link = "[^"]*", flow = "([^"]*)", packets = \[(\d+)\] \}\]$/.exec(set)).find(Boolean);
  return found ? `without frame ${Number(found[2]) - 1} of ${found[1]}` : undefined;
}

/** What the engine has found, with a button for each of the best decisions. */
export function answer(place: HTMLElement, why: Why, ask: (decision: Decision) => void): void {
  const text = document.createElement("p");
  const { decisions, saves, losses } = why;
  text.textContent =
    saves.length === 0
      ? `None of the ${count(decisions)} decisions before would have saved it alone.`
      : `${count(saves.length)} of the ${count(decisions)} decisions before would have saved it (outlined in the strip). What if the port had refused`;
  const buttons = best(why).map((decision) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `frame ${decision.number - 1} of ${decision.flow} at ${instant(picoseconds(decision.time_s))}: ${count(decision.losses)} losses, not ${count(losses)}`;
    button.onclick = () => ask(decision);
    return button;
  });
  place.replaceChildren(text, ...buttons);
}

/** The frames of these decisions in a run, to find their units in the buffer. */
export function framesOf(run: Run, { saves }: Why): Set<string> {
  const circuit = new Map(run.scenario.circuits.map((flow, at) => [flow, at]));
  return new Set(saves.map(({ flow, number }) => `${circuit.get(flow)} ${number - 1}`));
}
