// The buffer as a strip of units, the head at the top left. Colour is the flow; a broken frame is hatched; the last unit of a
// frame has a notch; a congestion mark is a dot; thresholds are lines across the strip.

import { colour } from "./flow";
import { type Layout, layout, pieces } from "./layout";
import { MARK, UNIT } from "./protocol";
import type { Run } from "./run";

const ATM_CELL = 53;

export class Strip {
  private inks: Inks = { panel: "", room: "", text: "", muted: "", threshold: "" };
  private hatch: CanvasPattern | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  draw(run: Run): void {
    const pen = this.pen();
    const picture = run.picture;
    if (!pen || !picture) return;
    const { width, height } = this.canvas.getBoundingClientRect();
    pen.clearRect(0, 0, width, height);
    const place = layout(this.capacity(run), smallest(run), width, height);
    this.inks = inks(this.canvas);
    this.hatch = pen.createPattern(hatching(this.inks.panel), "repeat");
    this.frame(pen, run, place);
    this.units(pen, run, picture.units, place);
    for (const [, level] of run.thresholds()) this.line(pen, place, level, this.inks.threshold, 4);
  }

  /** Circuit and frame of the unit at this place of the canvas. */
  at(run: Run, x: number, y: number): [number, number] | undefined {
    const { width, height } = this.canvas.getBoundingClientRect();
    const { scale, rowHeight } = layout(this.capacity(run), smallest(run), width, height);
    const level = (Math.floor(y / rowHeight) * width + x) / scale;
    const units = run.picture?.units ?? [];
    let start = 0;
    for (let at = 0; at < units.length; at += UNIT) {
      start += sizeOf(run, units[at + 4] ?? 0);
      if (level < start) return [units[at + 1] ?? 0, units[at + 2] ?? 0];
    }
    return undefined;
  }

  /** Every unit, and a line where another queue begins. */
  private units(pen: CanvasRenderingContext2D, run: Run, units: number[], place: Layout): void {
    let [start, queue] = [0, 1];
    for (let at = 0; at < units.length; at += UNIT) {
      const [of, circuit, octets, marks] = [units[at] ?? 0, units[at + 1] ?? 0, units[at + 4] ?? 0, units[at + 5] ?? 0];
      const size = sizeOf(run, octets);
      const shown = run.port.cells ? marks : marks & ~MARK.eom; // every packet is a frame of its own
      this.unit(pen, place, start, size, run.flow[circuit] ?? -1, shown);
      if (run.followed?.has(circuit, units[at + 2] ?? -1)) this.line(pen, place, start + size / 2, this.inks.text, 2);
      if (of > queue) this.line(pen, place, start, this.inks.muted, 1);
      queue = Math.max(queue, of);
      start += size;
    }
  }

  /** The pen, with the canvas as sharp as the screen. */
  private pen(): CanvasRenderingContext2D | null {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
    }
    const pen = this.canvas.getContext("2d");
    pen?.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
  }

  /** What the strip has room for: the buffer, or of one without limit the next power of two above what is in it. */
  private capacity(run: Run): number {
    const limit = run.port.capacity;
    return limit ?? 2 ** Math.ceil(Math.log2(Math.max(64 * smallest(run), run.picture?.occupancy ?? 1)));
  }

  private frame(pen: CanvasRenderingContext2D, run: Run, place: Layout): void {
    pen.fillStyle = this.inks.room;
    for (const { row, x, width } of pieces(place, 0, this.capacity(run))) {
      pen.fillRect(x, row * place.rowHeight, width, place.rowHeight - 2);
    }
  }

  private unit(
    pen: CanvasRenderingContext2D,
    place: Layout,
    start: number,
    size: number,
    flow: number,
    marks: number,
  ): void {
    const gap = size * place.scale > 4 ? 1 : 0;
    const tall = place.rowHeight - 2;
    for (const { row, x, width } of pieces(place, start, size)) {
      const y = row * place.rowHeight;
      pen.fillStyle = colour(flow);
      pen.fillRect(x, y, Math.max(0.5, width - gap), tall);
      if (marks & MARK.broken && this.hatch) {
        pen.fillStyle = this.hatch;
        pen.fillRect(x, y, width - gap, tall);
      }
      if (marks & MARK.eom) {
        pen.fillStyle = this.inks.text;
        pen.fillRect(x + width - gap - 1, y, 1, tall / 3);
      }
      if (marks & MARK.congestion) {
        pen.fillStyle = this.inks.text;
        pen.fillRect(x + width / 2 - 1, y + tall - 4, 3, 3);
      }
    }
  }

  private line(pen: CanvasRenderingContext2D, place: Layout, level: number, stroke: string, thick: number): void {
    const at = level * place.scale;
    const row = Math.floor(at / place.width);
    if (row >= place.rows) return;
    pen.fillStyle = stroke;
    pen.fillRect(at - row * place.width - thick / 2, row * place.rowHeight - 1, thick, place.rowHeight);
  }
}

/** What a unit takes of the buffer, in the port's measure. */
export function sizeOf(run: Run, octets: number): number {
  const { measure, cells } = run.port;
  return cells || measure !== "bytes" ? 1 : octets;
}

function smallest(run: Run): number {
  return run.port.measure === "bytes" ? 10 * ATM_CELL : 1;
}

interface Inks {
  panel: string;
  room: string;
  text: string;
  muted: string;
  threshold: string;
}

/** The colours of the page at this element. */
function inks(element: Element): Inks {
  const style = getComputedStyle(element);
  const ink = (name: string) => style.getPropertyValue(name).trim();
  return {
    panel: ink("--panel"),
    room: ink("--room"),
    text: ink("--text"),
    muted: ink("--muted"),
    threshold: ink("--threshold"),
  };
}

function hatching(stroke: string): HTMLCanvasElement {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  if (pen) {
    pen.strokeStyle = stroke;
    pen.lineWidth = 2;
    pen.beginPath();
    for (const shift of [-6, 0, 6]) {
      pen.moveTo(shift, 6);
      pen.lineTo(shift + 6, 0);
    }
    pen.stroke();
  }
  return tile;
}
