// What the page can hand out: files, and the commands that repeat its runs.

import type { Preset } from "./presets";

/** Let the browser save a file. */
export function save(name: string, content: string | Blob, type = "text/plain"): void {
  const link = document.createElement("a");
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The seed among overrides, as it was written. */
export function seedOf(sets: string[]): string | undefined {
  return sets.findLast((set) => set.startsWith("seed="))?.slice(5);
}

/** The command that repeats a run. */
export function command({ file }: Preset, sets: string[]): string {
  const seed = seedOf(sets);
  const others = sets.filter((set) => !set.startsWith("seed=")).map((set) => ` --set ${quoted(set)}`);
  return `pushout run ${quotedIfNeeded(file)}${seed === undefined ? "" : ` --seed ${quotedIfNeeded(seed)}`}${others.join("")}`;
}

function quotedIfNeeded(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : quoted(word);
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
