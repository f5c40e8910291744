// Who wins: figures of both runs, so far and of the whole run, which are those of `pushout run`.

import type { Client } from "./client";
import type { Run } from "./run";
import { count, octets, rate, span } from "./words";

/** `room` is counted as the port counts its buffer. */
type Unit = "time" | "rate" | "count" | "room" | "share" | "ratio";

export interface Figure {
  label: string;
  /** Where the document of a run has it; PORT stands for the port in view. */
  path: string;
  unit: Unit;
  better?: "higher" | "lower";
  /** What is promised: the nearer one is better. */
  promise?: number;
  soFar?(run: Run): number | undefined;
}

/** A figure over several seeds: the means of both runs, each with half of its 95 % interval. */
export interface OverSeeds {
  path: string;
  seeds: number;
  a: [number, number];
  b: [number, number];
  /** Of each seed's two runs. */
  difference: [number, number];
}

export type Document = Record<string, unknown>;

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
    unit: "room",
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

/** Whether a path of a document is the one that an outcome is about. */
function isAsked({ path }: Figure, outcome: OverSeeds): boolean {
  return path === outcome.path || path.replace(/^ports\.PORT\./, "") === outcome.path.replace(/^ports\.[^.]+\./, "");
}

/** The figure that the question of a preset asks for. */
export function askedFigure({ outcome, score }: { outcome?: OverSeeds; score?: (string | Figure)[] }): Figure | undefined {
  return outcome && figures(score).find((figure) => isAsked(figure, outcome));
}

/** The better run, 0 or 1, in the figure that the question asks for, if many seeds agree. */
export function winner(figure: Figure, outcome: OverSeeds | undefined): number | undefined {
  if (!outcome || !isAsked(figure, outcome)) return undefined;
  const { a: [a], b: [b], difference: [mean, half] } = outcome;
  if (Math.abs(mean) <= half) return undefined;
  const { better, promise } = figure;
  if (promise !== undefined) return Math.abs(a - promise) < Math.abs(b - promise) ? 0 : 1;
  return better && (a > b === (better === "higher") ? 0 : 1);
}

/** A value with its unit; `measure` is what the port counts in. */
export function written(unit: Unit, value: number | undefined, measure: string): string {
  if (value === undefined) return "–";
  if (unit === "time") return span(value * 1e12);
  if (unit === "rate") return rate(value);
  if (unit === "share") return `${Number((100 * value).toFixed(1))} %`;
  if (unit === "ratio") return value.toFixed(3);
  if (unit === "room" && measure === "bytes") return octets(value);
  const counted = count(Number(value.toFixed(value < 100 ? 1 : 0)));
  return unit === "room" ? `${counted} ${measure}` : counted;
}

/** A mean with half of its interval, both in the unit that suits the mean: 25.74 ± 0.73 ms. */
export function interval(unit: Unit, mean: number, half: number, measure: string): string {
  const shown = written(unit, mean, measure);
  const [, digits, size] = /^([\d.,]+) (\S+)$/.exec(shown) ?? [];
  if (digits === undefined || size === undefined || mean <= 0) return `${shown} ± ${written(unit, half, measure)}`;
  const scale = Number(digits.replaceAll(",", "")) / mean;
  return `${digits} ± ${Number((half * scale).toPrecision(2))} ${size}`;
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
