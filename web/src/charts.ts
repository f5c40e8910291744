// Figures over time on one time axis: occupancy, windows, goodput, losses.

import uPlot from "uplot";
import type { Row } from "./protocol";
import type { Run } from "./run";
import { type Column, type Line, charts } from "./series";
import { seconds } from "./words";

export class Charts {
  private plots: { plot: uPlot; lines: Line[] }[] = [];
  private now = 0;

  constructor(private readonly place: HTMLElement) {
    new ResizeObserver(() => this.resize()).observe(place);
  }

  /** Charts of these runs, from nothing. */
  open(runs: Run[]): void {
    for (const { plot } of this.plots) plot.destroy();
    this.place.replaceChildren();
    this.plots = [];
    for (const { title, lines } of charts(runs)) this.add(title, lines);
  }

  draw(now: number): void {
    this.now = seconds(now);
    for (const { plot, lines } of this.plots) {
      const longest = lines.reduce((best, { run }) => (run.rows.length > best.length ? run.rows : best), [] as Row[]);
      const times = longest.map(({ time }) => seconds(time));
      const columns = lines.map((line) => padded(line.values(line.run.rows), times.length));
      plot.setData([times, ...columns] as uPlot.AlignedData, true);
    }
  }

  private add(title: string, lines: Line[]): void {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    figure.append(caption);
    this.place.append(figure);
    const plot = new uPlot(this.options(figure, lines), [[], ...lines.map(() => [])] as unknown as uPlot.AlignedData, figure);
    this.plots.push({ plot, lines });
  }

  private options(figure: HTMLElement, lines: Line[]): uPlot.Options {
    const style = getComputedStyle(this.place);
    const [stroke, grid] = [style.getPropertyValue("--muted").trim(), style.getPropertyValue("--room").trim()];
    const axis = { stroke, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    return {
      width: Math.max(200, figure.clientWidth),
      height: 170,
      padding: [null, 18, null, null],
      legend: { live: false },
      cursor: { sync: { key: "lab" }, y: false },
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toPrecision(6))} s`) }, { ...axis, size: 64 }],
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
    for (const { plot } of this.plots) {
      const width = plot.root.parentElement?.clientWidth ?? 0;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
    }
  }
}

function padded(column: Column, length: number): Column {
  return column.concat(Array<undefined>(length - column.length).fill(undefined));
}
