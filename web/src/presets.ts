// What the page offers to open: experiments whose outcome is known, and what `pushout lab` has put into it.

import type { ScenarioText } from "./protocol";
import type { Figure, OverSeeds } from "./score";

/** One thing that the reader changes in the sentence: an override of run B, or of the run of this number. */
export interface Control {
  key: string;
  values: string[];
  run?: number;
}

/** A step of the lecture: a question, guesses, and the answer that the run gives. */
export interface Lesson {
  guesses: string[];
  /** The number of the right guess. */
  right: number;
  answer: string;
}

/** Both runs without what the sentence names as the cause: the figure that the question asks for must not differ then. */
export interface Counter extends Omit<OverSeeds, "path" | "seeds"> {
  text: string;
  /** Overrides that take the cause away. */
  sets: string[];
}

/** A policy in Python, translated: its override, and `PLACE=FILE.py`. */
export interface Program {
  set: string;
  option: string;
}

export interface Preset {
  name: string;
  /** Other names in links. */
  also?: string[];
  title: string;
  /** What the two runs decide. */
  question?: string;
  /** What each run does, in a few words; {control} stands for the value that the reader chooses. */
  labels?: string[];
  /** What to look at; {control} stands for the field that changes a run. */
  look: string;
  control?: Control;
  lesson?: Lesson;
  /** Figures of the score: names, or figures of its own. */
  score?: (string | Figure)[];
  /** What many seeds say, as `pushout run` gives it. */
  outcome?: OverSeeds;
  counter?: Counter;
  /** What was printed, and where. */
  printed?: { study: string; text: string };
  file: string;
  text: string;
  /** The overrides of one run, or of two that are compared. */
  runs: string[][];
  /** Policies in Python among these overrides, and the option of `pushout run --policy` that names the file of each. */
  programs?: Program[];
  /** Simulated seconds where to begin, and how many are shown in a second. */
  from?: number;
  pace?: number;
  /** Simulated seconds at which a printed figure of it is taken. */
  figure?: number;
  port?: string;
  /** Whether a link must carry its text, because no other page has it. */
  isCarried?: boolean;
}

/** A scenario that a link carries, or that the reader has brought from a file. */
export function carried(name: string, text: string, runs: string[][], file = name): Preset {
  return { name, title: name, look: "", file, text, runs, isCarried: true };
}

function within<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? "[]") as T;
}

/** Those given by `pushout lab` first; the texts of the others stand in the page once each. */
export function presets(): Preset[] {
  const texts = within<Record<string, string>>("texts");
  const own = within<Preset[]>("presets").map((preset) => ({ ...preset, text: texts[preset.file] ?? "" }));
  return [...within<Preset[]>("given").map((preset) => ({ ...preset, isCarried: true })), ...own];
}

/** Seconds of watching after which a figure of a preset is taken, unless it says when. */
export const WATCHED = 6;

/** Simulated seconds at which a preset shows something; `pace` is how many pass in a second where it does not say so. */
export function seen({ figure, from = 0, pace: own }: Preset, pace = 0): number {
  return figure ?? from + WATCHED * (own ?? pace);
}

/** Whether these are the runs whose outcome a preset has. */
export function isAsGiven({ runs }: Preset, sets: string[][]): boolean {
  return JSON.stringify(runs) === JSON.stringify(sets);
}

/** The overrides of both runs without the cause. */
export function countered({ runs, counter }: Preset): string[][] {
  return runs.map((own) => [...own, ...(counter?.sets ?? [])]);
}

/** The overrides of each run with another value of the control. */
export function controlled(sets: string[][], { key, run = 1 }: Control, value: string): string[][] {
  const own = (list: string[]) => [...list.filter((set) => !set.startsWith(`${key}=`)), `${key}=${value}`];
  return sets.map((list, at) => (at === run ? own(list) : list));
}

/** What a run does, in the words of its preset; none if the run has other overrides. */
export function labelled({ labels, control, runs }: Preset, at: number, sets: string[] = []): string | undefined {
  const key = control && `${control.key}=`;
  const fixed = (list: string[] = []) => JSON.stringify(list.filter((set) => !key || !set.startsWith(key)));
  const text = labels?.[at];
  if (!text || fixed(sets) !== fixed(runs[at])) return undefined;
  const value = sets.findLast((set) => key && set.startsWith(key))?.slice(key?.length);
  return text.replace("{control}", plain(value ?? ""));
}

/** A scenario as the engine takes it: the seed stands beside the overrides. */
export function asked(preset: Preset, own: string[]): ScenarioText {
  const seed = seedOf(own);
  const sets = own.filter((set) => !set.startsWith("seed="));
  return { text: preset.text, name: preset.file, sets, ...(seed === undefined ? {} : { seed }) };
}

/** The seed among overrides, as it was written. */
export function seedOf(sets: string[]): string | undefined {
  return sets.findLast((set) => set.startsWith("seed="))?.slice(5);
}

/** A value of TOML as people write it. */
export function plain(value: string): string {
  return value.replace(/^"(.*)"$/, "$1").replace(/^(\d+)\.0$/, "$1");
}

/** The value of the control among these overrides. */
export function valueOf(sets: string[][], { key, run = 1 }: Control): string | undefined {
  return sets[run]?.findLast((set) => set.startsWith(`${key}=`))?.slice(key.length + 1);
}
