// What the reader is told before the runs: the sentence with its control, and a lesson's question with guesses.

import { type Preset, controlled, plain, valueOf } from "./presets";
import { type OverSeeds, askedFigure, interval } from "./score";

/** Write the sentence of a preset; `change` gets the overrides with the value that the reader chooses. */
export function sentence(place: HTMLElement, preset: Preset, sets: string[][], change: (sets: string[][]) => void): void {
  const control = preset.control;
  const parts = preset.look.split("{control}");
  if (!control || parts.length < 2) {
    place.textContent = preset.look;
    return;
  }
  const select = document.createElement("select");
  const value = valueOf(sets, control);
  const values = value === undefined || control.values.includes(value) ? control.values : [value, ...control.values];
  for (const each of values) select.add(new Option(plain(each), each));
  if (value !== undefined) select.value = value;
  select.setAttribute("aria-label", `${control.key} of run ${"AB"[control.run ?? 1]}`);
  select.onchange = () => change(controlled(sets, control, select.value));
  place.replaceChildren(parts[0] ?? "", select, parts.slice(1).join(""));
}

/** What many seeds say about the figure that the question asks for; `measure` is what the port counts in. */
export function outcome(preset: Preset, measure: string): string {
  return preset.outcome ? means(preset, preset.outcome, measure) : "";
}

/** What becomes of it without the cause. */
export function counterRun(preset: Preset, measure: string): string {
  return preset.counter ? `Without the cause: ${preset.counter.text} ${means(preset, preset.counter, measure)}` : "";
}

function means(preset: Preset, { a, b }: Pick<OverSeeds, "a" | "b">, measure: string): string {
  const figure = askedFigure(preset);
  if (!preset.outcome || !figure) return "";
  const each = ([mean, half]: [number, number]) => interval(figure.unit, mean, half, measure);
  return `Mean of ${preset.outcome.seeds} seeds: ${figure.label} ${each(a)} (A), ${each(b)} (B).`;
}

/** Ask a lesson's question; `go` starts the runs after the guess. */
export function lesson(place: HTMLElement, { question, lesson }: Preset, go: () => void): void {
  place.replaceChildren();
  if (!lesson) return;
  const asked = document.createElement("p");
  asked.textContent = question ?? "";
  const answer = document.createElement("p");
  answer.setAttribute("role", "status");
  const buttons = lesson.guesses.map((guess, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = guess;
    button.onclick = () => {
      for (const each of [asked, ...buttons]) each.remove();
      answer.textContent = `${at === lesson.right ? "Right." : `Not so: ${lesson.guesses[lesson.right]}.`} ${lesson.answer}`;
      go();
    };
    return button;
  });
  place.replaceChildren(asked, ...buttons, answer);
}
