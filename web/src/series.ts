// Figures over time: which lines each chart has, for the screen, for pictures and for tables.

import { colour } from "./flow";
import type { Row } from "./protocol";
import type { Run } from "./run";
import { count, seconds } from "./words";

export type Column = (number | null | undefined)[];

export interface Line {
  label: string;
  stroke: string;
  dash?: number[];
  run: Run;
  values(rows: Row[]): Column;
}

export interface Chart {
  title: string;
  /** Whether it stands beside the runs, not in the drawer. */
  isMain: boolean;
  lines: Line[];
}

const LINES_AT_MOST = 3;
/** Intervals over which a goodput is taken, since data arrive in bursts. */
export const BURST = 50;

/** The charts of these runs; those without a line are left out. */
export function charts(runs: Run[]): Chart[] {
  const measure = runs[0]?.port.measure ?? "";
  const each = (make: (run: Run, dash: number[] | undefined, name: string) => Omit<Line, "run">[]) =>
    runs.flatMap((run, at) => {
      const lines = make(run, at > 0 ? [4, 3] : undefined, runs.length > 1 ? ` ${"AB"[at]}` : "");
      return lines.map((line) => ({ ...line, run }));
    });
  const all = [
    { title: `Queue (${measure})`, isMain: true, lines: each(occupancy) },
    { title: `Congestion windows${of(runs[0])} (bytes)`, isMain: true, lines: each(windows) },
    { title: "Goodput of all flows (Mb/s)", isMain: false, lines: each((_, dash, name) => [goodput(dash, name)]) },
    { title: "Units lost so far", isMain: false, lines: each(losses) },
  ];
  return [...all, ...states(runs)].filter(({ lines }) => lines.length > 0);
}

/** Which flows have a line, if it is not all of them. */
function of(run: Run | undefined): string {
  const flows = run?.scenario.flows.length ?? 0;
  return flows > LINES_AT_MOST ? ` of ${LINES_AT_MOST} of ${count(flows)} flows` : "";
}

/** A chart for each variable that a policy of the port keeps; the first of a policy of the reader's own stands beside the runs. */
function states(runs: Run[]): Chart[] {
  const names = [...new Set(runs.flatMap(({ scenario }) => scenario.state.map(([name]) => name)))];
  const own = runs.filter(({ scenario }) => isOwn(scenario)).flatMap(({ scenario }) => scenario.state.map(([name]) => name));
  return names.map((title) => ({
    title: `${title} (kept by the policy)`,
    isMain: title === own[0],
    lines: runs.flatMap((run, at) => {
      const kept = run.scenario.state.flatMap(([name, queue], place): [number | null, number][] => (name === title ? [[queue, place]] : []));
      return kept.slice(0, LINES_AT_MOST).map(([queue, place], number) => ({
        label: `${title}${queue === null || kept.length < 2 ? "" : ` of queue ${queue}`}${runs.length > 1 ? ` ${"AB"[at]}` : ""}`,
        stroke: colour(at > 0 ? 5 + number : number),
        run,
        values: (rows: Row[]) => rows.map((row) => row.state[place]),
        ...(at > 0 ? { dash: [4, 3] } : {}),
      }));
    }),
  }));
}

/** Whether a policy of the port is a program. */
function isOwn({ policies: { admission, pushout, scheduler } }: Run["scenario"]): boolean {
  return [admission, pushout, scheduler].some((policy) => policy?.policy === "program");
}

function occupancy(run: Run, dash: number[] | undefined, name: string): Omit<Line, "run">[] {
  const line = { label: `queue${name}`, stroke: colour(dash ? 5 : 0), values: (rows: Row[]) => rows.map((row) => row.occupancy) };
  const threshold = run.scenario.thresholds.map(([key, level]) => ({
    label: `${key}${name}`,
    stroke: colour(7),
    dash: dash ? [1, 3] : [6, 3],
    values: (rows: Row[]) => rows.map(() => level),
  }));
  return [{ ...line, ...(dash ? { dash } : {}) }, ...threshold];
}

function windows(run: Run, dash: number[] | undefined, name: string): Omit<Line, "run">[] {
  const hasWindow = (at: number) => run.picture?.flows[at]?.window != null;
  return run.listed.slice(0, LINES_AT_MOST).flatMap(([flow, own], at) => {
    if (!hasWindow(at)) return [];
    const values = (rows: Row[]) => rows.map((row) => row.flows[at]?.window);
    return [{ label: `${own}${name}`, stroke: colour(flow), values, ...(dash ? { dash } : {}) }];
  });
}

function goodput(dash: number[] | undefined, name: string): Omit<Line, "run"> {
  const all = ({ delivered }: Row) => delivered;
  const values = (rows: Row[]) => rows.map((row, at) => rateSince(rows[Math.max(0, at - BURST)] ?? row, row, all) / 1e6);
  return { label: `goodput${name}`, stroke: colour(dash ? 5 : 2), values, ...(dash ? { dash } : {}) };
}

/** What each flow has delivered of late, in bits per second. */
export function goodputs(run: Run): number[] {
  const rows = run.rows;
  let last = rows.length - 1;
  while (last > 0 && (rows[last]?.time ?? 0) > run.now) last -= 1;
  const [before, now] = [rows[Math.max(0, last - BURST)], rows[last]];
  return (now?.flows ?? []).map((_, flow) => (before && now ? rateSince(before, now, (row) => row.flows[flow]?.delivered ?? 0) : 0));
}

function rateSince(before: Row, now: Row, octets: (row: Row) => number): number {
  const time = seconds(now.time - before.time);
  return time > 0 ? Math.max(0, (8 * (octets(now) - octets(before))) / time) : 0;
}

function losses(run: Run, dash: number[] | undefined, name: string): Omit<Line, "run">[] {
  const sum = (lost: number[]) => lost.reduce((a, b) => a + b, 0);
  const all = { label: `lost${name}`, stroke: colour(dash ? 5 : 0), values: (rows: Row[]) => rows.map((row) => sum(row.lost)) };
  const marks = { label: `marked${name}`, stroke: colour(2), values: (rows: Row[]) => rows.map((row) => row.marked) };
  const canMark = JSON.stringify(run.scenario.policies).includes('"mark"');
  return [all, ...(canMark ? [marks] : [])].map((line) => ({ ...line, ...(dash ? { dash } : {}) }));
}
