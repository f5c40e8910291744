// The occupancy of both runs from start to end, above the slider of time: × a loss, ● a mark.

import { colour } from "./flow";
import { inks } from "./ink";
import { CanvasPen } from "./pen";
import type { Row } from "./protocol";
import type { Run } from "./run";

/** Pixels below the curve for losses and marks of each run. */
const SIGNS = 8;
/** The least distance of two signs, in pixels. */
const APART = 5;

export class Curve {
  constructor(private readonly canvas: HTMLCanvasElement) {
    canvas.setAttribute("role", "img");
  }

  draw(runs: Run[], now: number, duration: number): void {
    const { canvas } = this;
    const { width, height } = canvas.getBoundingClientRect();
    if (width === 0 || duration === 0) return;
    const ratio = window.devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const pen = new CanvasPen(context);
    const most = Math.max(1, ...runs.map(({ rows }) => rows.reduce((most, { occupancy }) => Math.max(most, occupancy), 0)));
    const tall = height - SIGNS * runs.length;
    const x = (time: number) => (time / duration) * width;
    runs.forEach((run, at) => {
      const points = run.rows.map(({ time, occupancy }): [number, number] => [x(time), tall - (tall - 2) * (occupancy / most)]);
      if (points.length > 1) pen.path(points, colour(at === 0 ? 0 : 5), 1.3, at === 0 ? undefined : [4, 3]);
      const y = tall + SIGNS * (at + 1) - 1;
      signs(run.rows, x, (place, isLoss) => pen.text(place, y, isLoss ? "×" : "●", colour(at === 0 ? 0 : 5), "middle", isLoss ? 11 : 7));
    });
    pen.rect(x(now) - 1, 0, 2, height, inks(canvas).text);
    canvas.setAttribute("aria-label", `Occupancy of ${runs.length > 1 ? "both runs" : "the run"} from start to end, at most ${most}`);
  }
}

/** The places where units were lost or marked, not closer than can be seen. */
function signs(rows: Row[], x: (time: number) => number, draw: (place: number, isLoss: boolean) => void): void {
  const sum = (lost: number[]) => lost.reduce((all, many) => all + many, 0);
  let last = -APART;
  rows.forEach((row, at) => {
    const before = rows[at - 1];
    if (!before || x(row.time) - last < APART) return;
    const isLoss = sum(row.lost) > sum(before.lost);
    if (!isLoss && row.marked === before.marked) return;
    last = x(row.time);
    draw(last, isLoss);
  });
}
