// The occupancy of both runs from start to end, above the slider of time: × a loss, ● a mark. New rows are added to what has been
// drawn; all of it is drawn again only if the scale or the size changes.

import { colour } from "./flow";
import { inks } from "./ink";
import { CanvasPen } from "./pen";
import type { Row } from "./protocol";
import type { Run } from "./run";
import { attribute } from "./write";

/** Pixels below the curve for losses and marks of each run. */
const SIGNS = 8;
/** The least distance of two signs, in pixels. */
const APART = 5;
/** Room above the highest occupancy, so that the scale changes seldom. */
const ROOM = 1.1;

/** What has been drawn of a run: rows, and the place of the latest sign. */
interface Drawn {
  run: Run;
  rows: number;
  sign: number;
}

export class Curve {
  private readonly needle = document.createElement("div");
  private readonly pen: CanvasPen | undefined;
  private size: [number, number] = [0, 0];
  private drawn: Drawn[] = [];
  private top = 0;
  private duration = 1;
  /** What the scale depends on, besides `top`. */
  private scale = "";

  constructor(private readonly canvas: HTMLCanvasElement) {
    canvas.setAttribute("role", "img");
    const context = canvas.getContext("2d");
    this.pen = context ? new CanvasPen(context) : undefined;
    this.needle.className = "needle";
    canvas.after(this.needle);
    new ResizeObserver(() => {
      const { width, height } = canvas.getBoundingClientRect();
      this.size = [width, height];
    }).observe(canvas);
  }

  draw(runs: Run[], now: number, duration: number): void {
    const [width, height] = this.size;
    if (width === 0 || duration === 0) return;
    const most = Math.max(1, ...runs.map((run) => highest(run.rows, this.drawn.find((drawn) => drawn.run === run)?.rows ?? 0)));
    const isKnown = runs.length === this.drawn.length && runs.every((run, at) => this.drawn[at]?.run === run);
    const scale = `${width} ${height} ${duration} ${inks().text}`;
    this.duration = duration;
    if (!isKnown || scale !== this.scale || most > this.top) this.restart(runs, scale, isKnown ? Math.max(this.top, most) : most);
    const x = (time: number) => (time / duration) * width;
    const tall = height - SIGNS * runs.length;
    this.drawn.forEach((drawn, at) => this.add(drawn, at, x, tall));
    this.needle.style.transform = `translateX(${Math.round(x(now))}px)`;
    const behind = runs[0]?.scenario.course ? ", behind it what the line can carry" : "";
    attribute(this.canvas, "aria-label", `Occupancy of ${runs.length > 1 ? "both runs" : "the run"} from start to end${behind}`);
  }

  /** Begin with an empty canvas, as sharp as the screen. */
  private restart(runs: Run[], scale: string, most: number): void {
    const [width, height] = this.size;
    const ratio = window.devicePixelRatio;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.scale = scale;
    this.top = ROOM * most;
    this.drawn = runs.map((run) => ({ run, rows: 0, sign: -APART }));
    const [first] = runs;
    if (first) this.behind(first);
  }

  /** What the line can carry, behind the curves, if its rate changes. */
  private behind({ scenario: { course, duration } }: Run): void {
    if (!course) return;
    const [width, height] = this.size;
    const [wide, tall] = [(width * duration) / this.duration / course.length, height - SIGNS * this.drawn.length];
    const most = Math.max(1, ...course);
    course.forEach((rate, at) => {
      const high = (tall - 2) * (rate / most);
      this.pen?.rect(at * wide, tall - high, wide, high, inks().room);
    });
  }

  /** Draw the rows of a run that are new. */
  private add(drawn: Drawn, at: number, x: (time: number) => number, tall: number): void {
    const first = Math.max(0, drawn.rows - 1);
    const rows = drawn.run.rows.slice(first);
    if (rows.length < 2) return;
    drawn.rows = drawn.run.rows.length;
    const points = rows.map(({ time, occupancy }): [number, number] => [x(time), tall - (tall - 2) * (occupancy / this.top)]);
    const stroke = colour(at === 0 ? 0 : 5);
    this.pen?.path(points, stroke, 1.3);
    const y = tall + SIGNS * (at + 1) - 1;
    rows.slice(1).forEach((row, place) => {
      const before = rows[place];
      const sign = before && signOf(before, row);
      if (!sign || x(row.time) - drawn.sign < APART) return;
      drawn.sign = x(row.time);
      this.pen?.text(drawn.sign, y, sign, stroke, "middle", sign === "×" ? 11 : 7);
    });
  }
}

/** The highest occupancy among the rows from a number on. */
function highest(rows: Row[], from: number): number {
  let most = 0;
  for (let at = from; at < rows.length; at += 1) most = Math.max(most, rows[at]?.occupancy ?? 0);
  return most;
}

/** What happened between two rows. */
function signOf(before: Row, row: Row): string | undefined {
  const sum = (lost: number[]) => lost.reduce((all, many) => all + many, 0);
  if (sum(row.lost) > sum(before.lost)) return "×";
  return row.marked > before.marked ? "●" : undefined;
}
