// What the page offers to open: presets for known figures, and what `pushout lab` has put into it.

export interface Preset {
  name: string;
  title: string;
  /** What to look at. */
  look: string;
  /** What was printed, and where. */
  printed?: { study: string; text: string };
  file: string;
  text: string;
  /** The overrides of one run, or of two that are compared. */
  runs: string[][];
  /** Simulated seconds where to begin, and how many are shown in a second. */
  from?: number;
  pace?: number;
  port?: string;
}

function within(id: string): Preset[] {
  const text = document.getElementById(id)?.textContent ?? "[]";
  return JSON.parse(text) as Preset[];
}

/** Those given by `pushout lab` first. */
export function presets(): Preset[] {
  return [...within("given"), ...within("presets")];
}
