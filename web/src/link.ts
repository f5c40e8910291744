// What is shown, as the part of an address behind "#": a preset by its name alone, or the scenario by its name, the overrides of
// both runs, the instant and the port; of a scenario that is not among the presets its whole text as well. `pushout lab --link`
// writes the same (python/pushout/lab.py).

import { cut } from "./words";

export interface Shown {
  preset: string;
  /** Overrides and instant; without them those of the preset. */
  sets?: string[][];
  now?: number;
  port?: string;
  /** The text of a scenario that the page does not have. */
  text?: string;
}

/** The version of a link without a text, and of one with it. */
const [VERSION, WHOLE] = [1, 2];
/** The page compares two runs, and a link that is longer than this was not written by it. */
const [RUNS_AT_MOST, LETTERS_AT_MOST] = [2, 100_000];
/** The latest instant that the engine counts, in picoseconds. */
const LATEST = Number.MAX_SAFE_INTEGER;

export function toLink({ preset, sets, now, port, text }: Shown): string {
  const view = text === undefined ? [VERSION, preset, sets, now, ...(port === undefined ? [] : [port])] : [WHOLE, preset, sets, now, port ?? null, text];
  return `#${encodeURIComponent(JSON.stringify(view))}`;
}

/** What a link shows; a message if it cannot be read. */
export function fromLink(hash: string): Shown | string | undefined {
  if (hash.length < 2) return undefined;
  if (hash.length > LETTERS_AT_MOST) return `the link must have at most ${LETTERS_AT_MOST} letters, not ${hash.length}`;
  if (/^#[\w-]+$/.test(hash)) return { preset: hash.slice(1) };
  try {
    return read(JSON.parse(decodeURIComponent(hash.slice(1))));
  } catch {
    return "the link is damaged";
  }
}

function read(view: unknown): Shown | string {
  if (!Array.isArray(view)) return "the link is damaged";
  const [version, preset, sets, now, place, text] = view as unknown[];
  if (version !== VERSION && version !== WHOLE) return `the link has version ${shortened(version)}, this page reads versions ${VERSION} and ${WHOLE}`;
  const [parts, port] = version === WHOLE ? [6, place ?? undefined] : [5, place];
  if (view.length > parts) return `the link must have at most ${parts} parts, not ${view.length}`;
  if (version === WHOLE && typeof text !== "string") return "the link has no text of a scenario";
  if (typeof preset !== "string") return "the link names no experiment";
  if (!Array.isArray(sets) || !sets.every((list) => Array.isArray(list) && list.every((set) => typeof set === "string"))) {
    return "the link is damaged: its runs are not lists of overrides";
  }
  if (sets.length < 1 || sets.length > RUNS_AT_MOST) return `a link must show 1 or 2 runs, not ${sets.length}`;
  if (typeof now !== "number" || now < 0 || now > LATEST) return `the instant of the link must be 0 or more, not ${shortened(now)}`;
  if (port !== undefined && typeof port !== "string") return `the port of the link must be a name, not ${shortened(port)}`;
  const wrong = (sets as string[][]).flat().map(refused).find((why) => why !== undefined);
  const scenario = typeof text === "string" && version === WHOLE ? { text } : {};
  return wrong ?? { preset, sets: sets as string[][], now, ...(port === undefined ? {} : { port }), ...scenario };
}

/** Why the page cannot do what an override says; the engine refuses the others. */
function refused(set: string): string | undefined {
  if (!/^[\w.-]+=/.test(set)) return `an override must be KEY=VALUE, not ${shortened(set)}`;
  if (/policy *= *["']program["']/.test(set) && !/\bcode *=/.test(set)) {
    return 'policy "program" needs its code: pushout lab SCENARIO --policy PORT=FILE.py puts it into the page';
  }
  return undefined;
}

/** A value that others wrote, short enough for a message. */
function shortened(value: unknown): string {
  return cut(JSON.stringify(value) ?? "nothing", 60);
}
