// Who wins: figures of both runs, so far and of the whole run, which are those of `pushout run`.

import type { Client } from "./client";
import type { Run } from "./run";
import { count, rate, span } from "./words";

type Unit = "time" | "rate" | "count" | "share" | "ratio";

export interface Figure {
  label: string;
  /** Where the document of a run has it; PORT stands for the port in view. */
  path: string;
  unit: Unit;
  better?: "higher" | "lower";
  soFar?(run: Run): number | undefined;
}

export type Document = Record<string, unknown>;

/** A difference below this share of the larger value makes no winner. */
const LEAST = 0.005;

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);

const FIGURES: Record<string, Figure> = {
  goodput: {
    label: "goodput",
    path: "summary.goodput_bps",
    unit: "rate",
    better: "higher",
    soFar: ({ picture, now }) => (picture && now > 0 ? (8 * sum(picture.delivered)) / (now / 1e12) : undefined),
  },
  ideal: { label: "of the ideal", path: "summary.goodput_ratio", unit: "share", better: "higher" },
  fair: {
    label: "fairness (Jain)",
    path: "summary.fairness_jain",
    unit: "ratio",
    better: "higher",
    soFar: ({ picture }) => jain(picture?.delivered ?? []),
  },
  lost: { label: "lost here", path: "ports.PORT.lost", unit: "count", better: "lower", soFar: ({ picture }) => picture && sum(picture.lost) },
  marked: { label: "marked here", path: "ports.PORT.marked", unit: "count", soFar: ({ picture }) => picture && sum(picture.marked) },
  queue: {
    label: "mean queue",
    path: "ports.PORT.occupancy_mean",
    unit: "count",
    better: "lower",
    soFar: ({ rows, now }) => mean(rows.filter(({ time }) => time <= now).map(({ occupancy }) => occupancy)),
  },
  again: { label: "sent again", path: "summary.retransmission_ratio", unit: "share", better: "lower" },
  p99: { label: "slowest 1 % of transfers", path: "summary.transfer_time_p99_s", unit: "time", better: "lower" },
};

const USUAL = ["ideal", "fair", "lost", "p99"];

/** The figures of these names, or figures of its own that a preset describes. */
export function figures(wanted: (string | Figure)[] = USUAL): Figure[] {
  return wanted.flatMap((each) => (typeof each === "string" ? (FIGURES[each] ?? []) : each));
}

/** Jain's index: 1 if all have the same, 1/n if one has all. */
export function jain(values: number[]): number | undefined {
  const squares = sum(values.map((value) => value * value));
  return squares > 0 ? sum(values) ** 2 / (values.length * squares) : undefined;
}

function mean(values: number[]): number | undefined {
  return values.length > 0 ? sum(values) / values.length : undefined;
}

/** A figure of a document: names on the way choose from lists, and counts by reason are added up. */
export function figureOf(document: Document, path: string, port: string): number | undefined {
  let place: unknown = document;
  for (const part of path.split(".").map((part) => (part === "PORT" ? port : part))) {
    place = Array.isArray(place) ? place.find((each: { name?: string }) => each.name === part) : (place as Document | undefined)?.[part];
  }
  if (typeof place === "number") return place;
  return typeof place === "object" && place !== null ? sum(Object.values(place).filter((value) => typeof value === "number")) : undefined;
}

/** The winner, 0 or 1, if two values differ enough. */
export function winner({ better }: Figure, [a, b]: (number | undefined)[]): number | undefined {
  if (better === undefined || a === undefined || b === undefined) return undefined;
  if (Math.abs(a - b) <= LEAST * Math.max(Math.abs(a), Math.abs(b))) return undefined;
  return a > b === (better === "higher") ? 0 : 1;
}

export function written(unit: Unit, value: number | undefined): string {
  if (value === undefined) return "–";
  if (unit === "time") return span(value * 1e12);
  if (unit === "rate") return rate(value);
  if (unit === "share") return `${Number((100 * value).toFixed(1))} %`;
  return unit === "count" ? count(Number(value.toFixed(value < 100 ? 1 : 0))) : value.toFixed(3);
}

/** A mean with half of its interval, both in the unit that suits the mean: 25.74 ± 0.73 ms. */
export function interval(unit: Unit, mean: number, half: number): string {
  if (unit !== "time" || mean <= 0) return `${written(unit, mean)} ± ${written(unit, half)}`;
  const [shown, size] = span(mean * 1e12).split(" ") as [string, string];
  return `${shown} ± ${Number(((half * Number(shown)) / mean).toPrecision(2))} ${size}`;
}

/** Documents of whole runs, from an engine of their own that ends with the next experiment. */
export class Whole {
  readonly documents: (Document | undefined)[] = [];
  private isOver = false;

  constructor(private readonly client: Client) {}

  /** Run them one after the other; `done` is called after each. */
  async run(runs: Run[], done: () => void): Promise<void> {
    for (const [at, { asked }] of runs.entries()) {
      if (this.isOver) return;
      this.documents[at] = await this.client.run<Document>(asked);
      done();
    }
    this.stop();
  }

  stop(): void {
    this.isOver = true;
    this.client.stop();
  }
}
