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

/** The command that repeats a run. */
export function command({ file }: Preset, sets: string[]): string {
  const seed = sets.filter((set) => set.startsWith("seed=")).map((set) => ` --seed ${set.slice(5)}`);
  const others = sets.filter((set) => !set.startsWith("seed=")).map((set) => ` --set ${quoted(set)}`);
  return `pushout run ${/^[\w./-]+$/.test(file) ? file : quoted(file)}${seed.join("")}${others.join("")}`;
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
