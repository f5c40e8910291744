// Figures over time on one time axis: occupancy, windows, goodput, losses.

import uPlot from "uplot";
import { colour } from "./flow";
import type { Row } from "./protocol";
import type { Run } from "./run";
import { seconds } from "./words";

type Column = (number | null | undefined)[];

interface Line {
  label: string;
  stroke: string;
  dash?: number[];
  values(rows: Row[]): Column;
}

const LINES_AT_MOST = 5;

export class Charts {
  private plots: { plot: uPlot; lines: { line: Line; run: Run }[] }[] = [];
  private now = 0;

  constructor(private readonly place: HTMLElement) {
    new ResizeObserver(() => this.resize()).observe(place);
  }

  /** Charts of these runs, from nothing. */
  open(runs: Run[]): void {
    for (const { plot } of this.plots) plot.destroy();
    this.place.replaceChildren();
    this.plots = [];
    const port = runs[0]?.port;
    if (!port) return;
    const each = (make: (run: Run, dash: number[] | undefined, name: string) => Line[]) =>
      runs.flatMap((run, at) => {
        const lines = make(run, at > 0 ? [4, 3] : undefined, runs.length > 1 ? ` ${"AB"[at]}` : "");
        return lines.map((line) => ({ line, run }));
      });
    this.add(`Occupancy (${port.measure})`, each((run, dash, name) => occupancy(run, dash, name)));
    this.add("Congestion window (bytes)", each((run, dash, name) => windows(run, dash, name)));
    this.add("Goodput (Mb/s)", each((_, dash, name) => [goodput(dash, name)]));
    this.add("Units lost so far", each((run, dash, name) => losses(run, dash, name)));
  }

  draw(now: number): void {
    this.now = seconds(now);
    for (const { plot, lines } of this.plots) {
      const longest = lines.reduce((best, { run }) => (run.rows.length > best.length ? run.rows : best), [] as Row[]);
      const times = longest.map(([time]) => seconds(time));
      const columns = lines.map(({ line, run }) => padded(line.values(run.rows), times.length));
      plot.setData([times, ...columns] as uPlot.AlignedData, true);
    }
  }

  private add(title: string, lines: { line: Line; run: Run }[]): void {
    if (lines.length === 0) return;
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    figure.append(caption);
    this.place.append(figure);
    const plot = new uPlot(this.options(figure, lines), [[], ...lines.map(() => [])] as unknown as uPlot.AlignedData, figure);
    this.plots.push({ plot, lines });
  }

  private options(figure: HTMLElement, lines: { line: Line }[]): uPlot.Options {
    const style = getComputedStyle(this.place);
    const [stroke, grid] = [style.getPropertyValue("--muted").trim(), style.getPropertyValue("--room").trim()];
    const axis = { stroke, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    return {
      width: Math.max(200, figure.clientWidth),
      height: 170,
      cursor: { sync: { key: "lab" }, y: false },
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toPrecision(6))} s`) }, { ...axis, size: 64 }],
      series: [
        { label: "time", value: (_, time) => (time === null ? "" : `${time.toFixed(4)} s`) },
        ...lines.map(({ line }) => ({ label: line.label, stroke: line.stroke, width: 1.5, points: { show: false }, ...(line.dash ? { dash: line.dash } : {}) })),
      ],
      hooks: { draw: [(plot) => this.needle(plot, stroke)] },
    };
  }

  /** A line at the instant that the strips show. */
  private needle(plot: uPlot, stroke: string): void {
    const x = plot.valToPos(this.now, "x", true);
    const { top, height, left, width } = plot.bbox;
    if (x < left || x > left + width) return;
    plot.ctx.save();
    plot.ctx.strokeStyle = stroke;
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, top);
    plot.ctx.lineTo(x, top + height);
    plot.ctx.stroke();
    plot.ctx.restore();
  }

  private resize(): void {
    for (const { plot } of this.plots) {
      const width = plot.root.parentElement?.clientWidth ?? 0;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
    }
  }
}

function padded(column: Column, length: number): Column {
  return column.concat(Array<undefined>(length - column.length).fill(undefined));
}

function occupancy(run: Run, dash: number[] | undefined, name: string): Line[] {
  const line = { label: `occupancy${name}`, stroke: colour(dash ? 5 : 0), values: (rows: Row[]) => rows.map(([, level]) => level) };
  const threshold = run.scenario.thresholds.map(([key, level]) => ({
    label: `${key}${name}`,
    stroke: colour(7),
    dash: dash ? [1, 3] : [6, 3],
    values: (rows: Row[]) => rows.map(() => level),
  }));
  return [{ ...line, ...(dash ? { dash } : {}) }, ...threshold];
}

function windows(run: Run, dash: number[] | undefined, name: string): Line[] {
  const flows = run.scenario.flows.slice(0, Math.min(LINES_AT_MOST, run.scenario.flows_over_time));
  const hasWindow = (at: number) => run.picture?.flows[at]?.window != null;
  return flows.flatMap((flow, at) => {
    if (!hasWindow(at)) return [];
    const values = (rows: Row[]) => rows.map((row) => row[4][at]?.[0]);
    return [{ label: `${flow}${name}`, stroke: colour(at), values, ...(dash ? { dash } : {}) }];
  });
}

function goodput(dash: number[] | undefined, name: string): Line {
  const total = (row: Row) => row[4].reduce((sum, [, octets]) => sum + octets, 0);
  // over fifty intervals, since data arrive in bursts
  const values = (rows: Row[]) =>
    rows.map((row, at) => {
      const before = rows[Math.max(0, at - 50)] ?? row;
      const [octets, time] = [total(row) - total(before), seconds(row[0] - before[0])];
      return time > 0 ? Math.max(0, (octets * 8) / time / 1e6) : 0;
    });
  return { label: `goodput${name}`, stroke: colour(dash ? 5 : 2), values, ...(dash ? { dash } : {}) };
}

function losses(run: Run, dash: number[] | undefined, name: string): Line[] {
  const sum = (lost: number[]) => lost.reduce((a, b) => a + b, 0);
  const all = { label: `lost${name}`, stroke: colour(dash ? 5 : 0), values: (rows: Row[]) => rows.map((row) => sum(row[2])) };
  const marks = { label: `marked${name}`, stroke: colour(2), values: (rows: Row[]) => rows.map((row) => row[3]) };
  const canMark = JSON.stringify(run.scenario.policies).includes('"mark"');
  return [all, ...(canMark ? [marks] : [])].map((line) => ({ ...line, ...(dash ? { dash } : {}) }));
}
