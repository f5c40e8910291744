// The buffer as a strip of units, the head at the top left. Colour is the flow; a broken frame is hatched; the last unit of a
// frame has a notch; a congestion mark is a dot; thresholds are lines across the strip. Above it units arrive, on its left they
// leave, below it they are lost, with the reason.

import { colour } from "./flow";
import type { Inks } from "./ink";
import { type Layout, MOST_APART, layout, pieces, sizeOf } from "./layout";
import { type Flight, type Motion, keyOf } from "./motion";
import type { Pen } from "./pen";
import { MARK } from "./protocol";
import type { Unit } from "./protocol";
import type { Run } from "./run";

/** Octets of a full packet. */
const PACKET = 1500;
const [LEFT, ABOVE, BELOW] = [30, 18, 32];
/** Units that are wider than this, in pixels, are drawn apart. */
const APART = 4;
/** Pixels for a word below the strip. */
const WORD = 120;
/** Pixels of a letter of it. */
const LETTER = 6.5;

export class Strip {
  private readonly place: Layout;
  /** Between units, where they are wide enough. */
  private readonly gap: number;

  constructor(
    private readonly pen: Pen,
    private readonly run: Run,
    private readonly inks: Inks,
    width: number,
    height: number,
  ) {
    this.place = place(run, width, height);
    this.gap = usual(run) * this.place.scale > APART ? 1 : 0;
  }

  draw(motion: Motion, now: number): void {
    const { pen, run, place, inks } = this;
    for (const { row, x, width } of pieces(place, 0, capacity(run))) {
      pen.rect(LEFT + x, this.top(row), width, place.rowHeight - 2, inks.room);
    }
    if (isCrowded(run)) this.areas();
    else this.units(motion, now);
    for (const [, level] of run.thresholds()) this.line(level, inks.threshold, 4);
    for (const flight of motion.others) this.flight(flight, motion.progress(flight, now));
    this.words(motion, now);
  }

  /** An area for each flow, hatched as far as its frames are broken. */
  private areas(): void {
    let start = 0;
    for (const { flow, size, broken } of areas(this.run)) {
      this.unit(start, broken, flow, MARK.broken, 1);
      this.unit(start + broken, size - broken, flow, 0, 1);
      start += size;
    }
  }

  private top(row: number): number {
    return ABOVE + row * this.place.rowHeight;
  }

  /** Every unit, and a line where another queue begins. Units side by side that look the same are drawn at once. */
  private units(motion: Motion, now: number): void {
    const { run } = this;
    const [port, units] = [run.port, run.picture?.units ?? []];
    let [start, queue] = [0, 1];
    let same = { start: 0, size: 0, flow: 0, marks: 0 };
    const draw = () => same.size > 0 && this.unit(same.start, same.size, same.flow, same.marks, 1);
    for (const unit of units) {
      const [size, flow] = [sizeOf(port, unit.octets), run.flow[unit.circuit] ?? -1];
      const shown = port.cells ? unit.marks : unit.marks & ~MARK.eom; // every packet is a frame of its own
      const coming = motion.arriving.size > 0 ? motion.arriving.get(keyOf(unit)) : undefined;
      const isPlain = !coming && (shown & (MARK.eom | MARK.congestion)) === 0 && this.gap === 0;
      if (isPlain && same.size > 0 && same.flow === flow && same.marks === shown) same.size += size;
      else {
        draw();
        same = { start, size: isPlain ? size : 0, flow, marks: shown };
        const way = coming ? motion.progress(coming, now) : 1;
        if (!isPlain && way !== undefined) this.unit(start, size, flow, shown, way);
      }
      if (run.saviours.size > 0 && run.saviours.has(`${unit.circuit} ${unit.frame}`)) this.outlined(start, size);
      if (unit.queue > queue) this.line(start, this.inks.muted, 1);
      queue = Math.max(queue, unit.queue);
      start += size;
    }
    draw();
    this.followed(units);
  }

  /** An outline around a unit whose refusal would have saved the frame that is followed. */
  private outlined(start: number, size: number): void {
    for (const { row, x, width } of pieces(this.place, start, size)) {
      this.pen.path(outline(LEFT + x, this.top(row) - 2, width, this.place.rowHeight + 2), this.inks.threshold, 2);
    }
  }

  /** Lines through the units of the frame that is followed. */
  private followed(units: Unit[]): void {
    const { followed, port } = this.run;
    if (!followed) return;
    let start = 0;
    for (const unit of units) {
      const size = sizeOf(port, unit.octets);
      if (followed.has(unit)) this.line(start + size / 2, this.inks.text, 2);
      start += size;
    }
  }

  /** A unit in its place, or on its way there from above. */
  private unit(start: number, size: number, flow: number, marks: number, way: number): void {
    const { pen, inks } = this;
    const gap = this.gap;
    const tall = this.place.rowHeight - 2;
    for (const { row, x: from, width } of pieces(this.place, start, size)) {
      const [x, y] = [LEFT + from, this.top(row) * way];
      pen.rect(x, y, Math.max(0.5, width - gap), tall, colour(flow));
      if (marks & MARK.broken) pen.hatch(x, y, width - gap, tall, inks.panel);
      if (marks & MARK.eom) pen.rect(x + width - gap - 1, y, 1, tall / 3, inks.text);
      if (marks & MARK.congestion) pen.rect(x + width / 2 - 1, y + tall - 4, 3, 3, inks.text);
    }
  }

  /** A unit that leaves, is lost or has been marked. */
  private flight({ kind, circuit, octets, place }: Flight, way: number | undefined): void {
    if (way === undefined) return;
    const { pen, run, inks } = this;
    const size = sizeOf(run.port, octets);
    const width = Math.max(2, Math.min(LEFT - 4, size * this.place.scale));
    const tall = Math.min(14, this.place.rowHeight - 2);
    const flow = colour(run.flow[circuit] ?? -1);
    const { x, y } = this.at(place);
    if (kind === "out") pen.rect(LEFT - (LEFT + width) * way, ABOVE, width, tall, flow);
    if (kind === "lost") pen.rect(x, y + (this.bottom() - y) * way, width, tall, flow);
    if (kind === "mark") pen.rect(x, y + this.place.rowHeight - 6, width, 4, inks.text);
  }

  /** Why units were lost or marked, where it happened; equal words at one place are counted. */
  private words(motion: Motion, now: number): void {
    const counts = new Map<string, number>();
    const last = Math.max(0, Math.floor((LEFT + this.place.width) / WORD) - 1);
    for (const flight of motion.others) {
      if (flight.kind === "out" || motion.progress(flight, now) === undefined) continue;
      const word = `${flight.kind === "mark" ? "marked" : "lost"}: ${flight.word}`;
      const key = `${Math.min(last, Math.floor(this.at(flight.place).x / WORD))} ${word}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const ends = [0, 0]; // of the two lines of words, in pixels
    const sorted = [...counts].sort(([a], [b]) => parseInt(a, 10) - parseInt(b, 10));
    for (const [key, many] of sorted) {
      const [slot = "0", ...word] = key.split(" ");
      const text = `${word.join(" ")}${many > 1 ? ` × ${many}` : ""}`;
      const row = (ends[0] ?? 0) <= (ends[1] ?? 0) || (ends[0] ?? 0) <= Number(slot) * WORD ? 0 : 1;
      const x = Math.max(2, Number(slot) * WORD, ends[row] ?? 0);
      if (x + LETTER * text.length > LEFT + this.place.width && x > 2) continue; // no room: the list has it
      this.pen.text(x, this.bottom() + 28 - 12 * row, text, this.inks.text);
      ends[row] = x + LETTER * text.length + 10;
    }
  }

  private bottom(): number {
    return this.top(this.place.rows);
  }

  /** The place of a level on the canvas. */
  private at(level: number): { x: number; y: number } {
    const { scale, width, rows } = this.place;
    const row = Math.min(rows - 1, Math.floor((level * scale) / width));
    return { x: LEFT + Math.min(width - 2, level * scale - row * width), y: this.top(row) };
  }

  private line(level: number, stroke: string, thick: number): void {
    const { scale, width, rows, rowHeight } = this.place;
    if (Math.floor((level * scale) / width) >= rows) return;
    const { x, y } = this.at(level);
    this.pen.rect(x - thick / 2, y - 1, thick, rowHeight, stroke);
  }
}

/** The unit at this place of a strip. */
export function unitAt(run: Run, [width, height]: [number, number], x: number, y: number): Unit | undefined {
  const { scale, rowHeight, width: wide } = place(run, width, height);
  const level = (Math.max(0, Math.floor((y - ABOVE) / rowHeight)) * wide + x - LEFT) / scale;
  if (level < 0) return undefined;
  const [port, units] = [run.port, run.picture?.units ?? []];
  let end = 0;
  if (isCrowded(run)) return areas(run).find(({ size }) => level < (end += size))?.first;
  for (const unit of units) {
    end += sizeOf(port, unit.octets);
    if (level < end) return unit;
  }
  return undefined;
}

function place(run: Run, width: number, height: number): Layout {
  return layout(capacity(run), usual(run), width - LEFT, height - ABOVE - BELOW);
}

/** What the strip has room for: the buffer, or of one without limit the next power of two above what is in it. */
function capacity(run: Run): number {
  const { memory } = run.scenario;
  const limit = memory ? null : run.port.capacity; // a port shares its memory: show its part of it
  return limit ?? 2 ** Math.ceil(Math.log2(Math.max(64 * usual(run), run.picture?.occupancy ?? 1)));
}

/** What a full packet or a cell takes of the buffer: small ones are drawn narrower. */
function usual(run: Run): number {
  return run.port.cells ? 1 : sizeOf(run.port, PACKET);
}

/** Whether the units are too many to be seen apart, so that each flow has an area. */
function isCrowded(run: Run): boolean {
  return capacity(run) > MOST_APART * usual(run);
}

/** The units of a flow in a crowded buffer, and how much of them is carried in vain. */
interface Area {
  flow: number;
  size: number;
  broken: number;
  first: Unit;
}

/** An area for each flow, in the order of the flows. */
function areas(run: Run): Area[] {
  const found = new Map<number, Area>();
  for (const unit of run.picture?.units ?? []) {
    const [flow, size] = [run.flow[unit.circuit] ?? -1, sizeOf(run.port, unit.octets)];
    const area = found.get(flow) ?? { flow, size: 0, broken: 0, first: unit };
    area.size += size;
    if (unit.marks & MARK.broken) area.broken += size;
    found.set(flow, area);
  }
  return [...found.values()].sort((a, b) => a.flow - b.flow);
}

function outline(x: number, y: number, width: number, height: number): [number, number][] {
  return [[x, y], [x + width, y], [x + width, y + height], [x, y + height], [x, y]];
}
