// What the page can hand out: files, and the commands that repeat its runs.

import { type Preset, seedOf } from "./presets";

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
export function command({ file, programs = [] }: Preset, sets: string[]): string {
  const seed = seedOf(sets);
  const files = new Map(programs.map(({ set, option }) => [set, option]));
  const policies = sets.flatMap((set) => files.get(set) ?? []).map((option) => ` --policy ${quotedIfNeeded(option)}`);
  const others = sets.filter((set) => !set.startsWith("seed=") && !files.has(set)).map((set) => ` --set ${quoted(set)}`);
  const named = file.includes("/") && !/\.(toml|json)$/.test(file) ? `${file}.toml` : file; // shipped scenarios have names
  return `pushout run ${quotedIfNeeded(named)}${seed === undefined ? "" : ` --seed ${quotedIfNeeded(seed)}`}${policies.join("")}${others.join("")}`;
}

function quotedIfNeeded(word: string): string {
  return /^[\w./:=,-]+$/.test(word) ? word : quoted(word);
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
