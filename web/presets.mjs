// The experiments of presets.json: a lesson has the runs of another one, and each has the text of its scenario.

import { readFileSync } from "node:fs";

const here = (path) => new URL(path, import.meta.url);

/** The text of a scenario: shipped ones are named alone, others by their path. */
export function scenario(file) {
  return readFileSync(here(file.includes("/") ? `../${file}.toml` : `../scenarios/${file}.toml`), "utf8");
}

/** The experiments, complete but for the texts of their scenarios. */
export function experiments() {
  const all = JSON.parse(readFileSync(here("presets.json"), "utf8"));
  const completed = ({ like, ...own }) => {
    const base = like && all.find(({ name }) => name === like);
    if (like && !base) throw new Error(`presets.json has no experiment ${like}`);
    return { ...base, ...own };
  };
  return all.map(completed);
}
