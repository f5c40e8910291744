// Figures over time on one time axis: occupancy, windows, goodput, losses.

import uPlot from "uplot";
import type { Run } from "./run";
import { inks } from "./ink";
import type { Row } from "./protocol";
import { BURST, type Chart, type Line, charts } from "./series";
import { seconds } from "./words";
import { attribute } from "./write";

/** The shortest axis of time, in seconds: at the start of a run there is a single instant. */
const LEAST = 1e-4;

export class Charts {
  private plots: { plot: uPlot; lines: Line[]; title: string }[] = [];
  private now = 0;
  /** The instants at both ends of the axis of time, in seconds. */
  private axis: [number, number] = [0, LEAST];
  /** Whether they are on the page, not in a closed drawer. */
  private isSeen = false;

  /** Main charts show the latest time, the others all of it. */
  constructor(
    private readonly place: HTMLElement,
    private readonly isMain: boolean,
  ) {
    new ResizeObserver(() => this.resize()).observe(place);
  }

  /** Charts of these runs, from nothing. */
  open(runs: Run[]): void {
    for (const { plot } of this.plots) plot.destroy();
    this.place.replaceChildren();
    this.plots = [];
    for (const chart of charts(runs).filter(({ isMain }) => isMain === this.isMain)) this.add(chart);
  }

  /** Draw up to an instant, and of the main charts only the last `shown`; charts that rest are described in words too. */
  draw(now: number, shown: number, rests: boolean): void {
    this.now = seconds(now);
    if (!this.isSeen) return;
    this.axis = this.isMain ? windowOf(this.now, seconds(shown)) : [0, Math.max(LEAST, ...this.plots.flatMap(({ lines }) => lines.map(endOf)))];
    for (const { plot, lines, title } of this.plots) {
      plot.setData(aligned(lines, this.isMain ? now - shown : -1), true);
      if (rests) attribute(plot.root, "aria-label", said(title, lines, now));
    }
  }

  private add({ title, lines }: Chart): void {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    figure.append(caption);
    this.place.append(figure);
    const plot = new uPlot(this.options(figure, lines), [[], ...lines.map(() => [])] as unknown as uPlot.AlignedData, figure);
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", title);
    this.plots.push({ plot, lines, title });
  }

  private options(figure: HTMLElement, lines: Line[]): uPlot.Options {
    const { muted: stroke, room: grid } = inks();
    const axis = { stroke, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    return {
      width: Math.max(200, inner(figure)),
      height: this.isMain ? 96 : 170,
      padding: [null, 30, null, null],
      legend: { live: false, markers: { dash: (_, at) => (lines[at - 1]?.dash ? "dotted" : "solid") } },
      cursor: { sync: { key: "lab" }, y: false },
      scales: { x: { time: false, range: () => this.axis }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [{ ...axis, ...(this.isMain ? { size: 26 } : {}), values: (_, ticks) => ticks.map((tick) => `${Number(tick.toPrecision(6))} s`) }, { ...axis, size: 64, space: 18 }],
      series: [
        { label: "time", value: (_, time) => (time === null ? "" : `${time.toFixed(4)} s`) },
        ...lines.map((line) => ({ label: line.label, stroke: line.stroke, width: 1.5, points: { show: false }, ...(line.dash ? { dash: line.dash } : {}) })),
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
    this.isSeen = this.place.clientWidth > 0;
    for (const { plot } of this.plots) {
      const width = plot.root.parentElement ? inner(plot.root.parentElement) : 0;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
    }
  }
}

/** The width that a figure has within its padding. */
function inner(figure: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(figure);
  return figure.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
}

/** The latest time, as long as it is shown; at the start of a run it fills from the left. */
function windowOf(now: number, shown: number): [number, number] {
  const from = Math.max(0, now - shown);
  return [from, from + Math.max(LEAST, shown)];
}

/** The instant of the last row of a line, in seconds. */
function endOf({ run }: Line): number {
  return seconds(run.rows.at(-1)?.time ?? 0);
}

/** The columns of all lines on one axis of time: every run has instants of its own, after how long it lasts. */
export function aligned(lines: Line[], from: number): uPlot.AlignedData {
  const tables = lines.map((line): uPlot.AlignedData => {
    const first = Math.max(0, line.run.rows.findIndex(({ time }) => time >= from));
    const rows = line.run.rows.slice(first);
    return [rows.map(({ time }) => seconds(time)), line.values(rows) as (number | null)[]];
  });
  const [[times] = [[]]] = tables;
  const isOneAxis = tables.every(([own]) => own.length === times.length && own.at(-1) === times.at(-1) && own[1] === times[1]);
  return isOneAxis ? [times, ...tables.flatMap(([, values]) => (values ? [values] : []))] : uPlot.join(tables);
}

/** The last rows up to an instant, as many as a value can depend on. */
function latest(rows: Row[], now: number): Row[] {
  let end = rows.length;
  while (end > 0 && (rows[end - 1]?.time ?? 0) > now) end -= 1;
  return rows.slice(Math.max(0, end - BURST - 1), end);
}

/** A chart in words: the value of each line at an instant. */
function said(title: string, lines: Line[], now: number): string {
  const values = lines.map(({ label, run, values }) => {
    const value = values(latest(run.rows, now)).at(-1);
    return `${label} ${value === null || value === undefined ? "none" : Number(value.toPrecision(4))}`;
  });
  return `${title}: ${values.join(", ")}`;
}
