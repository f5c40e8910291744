// What moves between two pictures: units that arrive, leave, are lost or get a congestion mark, each from the instant of its event.

import { ARRIVES, LEAVES, MARK, RECORD, UNIT } from "./protocol";
import type { Picture } from "./protocol";

export type Kind = "in" | "out" | "lost" | "mark";

export interface Flight {
  kind: Kind;
  /** When it begins, on the clock of the page, in milliseconds. */
  birth: number;
  circuit: number;
  octets: number;
  /** Octets, cells or packets between the head of the buffer and the place where it happens. */
  place: number;
  /** Why a unit is lost or marked. */
  word: string;
  /** Of which picture it is part. */
  picture: number;
}

/** How long a unit takes to come or go, in milliseconds. */
const LIFE = 400;
/** How long the events of one step take together. */
const STEP = 300;
const MOST = 150;

export class Motion {
  /** Units on their way into the buffer, by their identity. */
  readonly arriving = new Map<number, Flight>();
  /** Units that have left it, or were lost or marked. */
  others: Flight[] = [];
  private pictures = 0;
  private last = 0;

  /** What has led from one picture to the next one; `size` is what a unit takes of the buffer. */
  see(before: Picture | undefined, after: Picture, reasons: string[], size: (octets: number) => number, moves: boolean): void {
    this.pictures += 1;
    const now = performance.now();
    const span = Math.min(STEP, now - this.last > 100 ? STEP : 16);
    this.last = now;
    this.prune(now);
    const from = latest(after.records);
    const start = after.records[from] ?? 0;
    const scale = span / Math.max(1, after.now - start);
    const places = placesOf(before, size, after.records);
    const flight = (kind: Kind, at: number, place: number, word: string): Flight => ({
      kind,
      birth: moves ? now + ((after.records[at] ?? 0) - start) * scale : -Infinity,
      circuit: after.records[at + 2] ?? 0,
      octets: after.records[at + 5] ?? 0,
      place,
      word,
      picture: this.pictures,
    });
    const tail = filled(after, size);
    const marked = marksOf(before, after, reasons);
    for (let at = from; at < after.records.length; at += RECORD) {
      const what = after.records[at + 1] ?? 0;
      const key = keyOf(after.records, at + 2);
      const reason = reasons[what - 2];
      if (what === ARRIVES && moves) this.arriving.set(key, flight("in", at, 0, ""));
      if (what === LEAVES && moves) this.others.push(flight("out", at, 0, ""));
      if (reason !== undefined) this.lose(key, flight("lost", at, places.get(key) ?? tail, reason));
      if (marked.has(key)) this.others.push(flight("mark", at, this.placeIn(after, key, size), marked.get(key) ?? ""));
      marked.delete(key);
    }
  }

  /** Nothing moves any more. */
  clear(): void {
    this.arriving.clear();
    this.others = [];
  }

  /** Whether anything still moves. */
  moves(now: number): boolean {
    return this.arriving.size > 0 || this.others.some(({ birth }) => now < birth + LIFE);
  }

  /** How far a flight has come, from 0 to 1; undefined before its birth. */
  progress({ birth }: Flight, now: number): number | undefined {
    return now < birth ? undefined : Math.min(1, (now - birth) / LIFE);
  }

  /** Forget what has come to its end. Losses and marks of the latest picture stay until the next one. */
  prune(now: number): void {
    for (const [key, { birth }] of this.arriving) if (now >= birth + LIFE) this.arriving.delete(key);
    const stays = ({ kind, picture }: Flight) => kind !== "out" && picture === this.pictures;
    this.others = this.others.filter((flight) => now < flight.birth + LIFE || stays(flight));
  }

  /** A unit that is lost while it comes does not come. */
  private lose(key: number, flight: Flight): void {
    this.arriving.delete(key);
    this.others.push(flight);
  }

  private placeIn(picture: Picture, key: number, size: (octets: number) => number): number {
    return places(picture, size, new Set([key])).get(key) ?? 0;
  }
}

/** A number for circuit, frame and index of a unit, which follow each other from `at` on. */
export function keyOf(numbers: ArrayLike<number>, at: number): number {
  const [circuit, frame, index] = [numbers[at] ?? 0, numbers[at + 1] ?? 0, numbers[at + 2] ?? 0];
  return (circuit * 65536 + index) * 2 ** 20 + (frame % 2 ** 20);
}

/** Where the latest records begin that can be told apart. */
function latest(records: ArrayLike<number>): number {
  return Math.max(0, records.length - 2 * MOST * RECORD);
}

function filled(picture: Picture, size: (octets: number) => number): number {
  let sum = 0;
  for (let at = 0; at < picture.units.length; at += UNIT) sum += size(picture.units[at + 4] ?? 0);
  return sum;
}

/** Where the lost units were in the picture before. */
function placesOf(before: Picture | undefined, size: (octets: number) => number, records: ArrayLike<number>): Map<number, number> {
  const lost = new Set<number>();
  for (let at = latest(records); at < records.length; at += RECORD) {
    if ((records[at + 1] ?? 0) > LEAVES) lost.add(keyOf(records, at + 2));
  }
  return before && lost.size > 0 ? places(before, size, lost) : new Map();
}

/** The places of these units in a picture. */
function places(picture: Picture, size: (octets: number) => number, wanted: Set<number>): Map<number, number> {
  const found = new Map<number, number>();
  let start = 0;
  for (let at = 0; at < picture.units.length; at += UNIT) {
    const key = keyOf(picture.units, at + 1);
    if (wanted.has(key)) found.set(key, start);
    start += size(picture.units[at + 4] ?? 0);
  }
  return found;
}

/** Units that have got a congestion mark at this port, and why: they came without one and are queued or have left with one. */
function marksOf(before: Picture | undefined, after: Picture, reasons: string[]): Map<number, string> {
  const why = after.marked.flatMap((count, at) => (count > (before?.marked[at] ?? 0) ? [reasons[at] ?? ""] : [])).join(", ");
  const marked = new Map<number, string>();
  if (why === "") return marked;
  const came = new Set<number>();
  for (let at = 0; before && at < before.units.length; at += UNIT) {
    if (((before.units[at + 5] ?? 0) & MARK.congestion) === 0) came.add(keyOf(before.units, at + 1));
  }
  for (let at = 0; at < after.records.length; at += RECORD) {
    const isMarked = ((after.records[at + 6] ?? 0) & MARK.congestion) !== 0;
    const key = keyOf(after.records, at + 2);
    if (after.records[at + 1] === ARRIVES && !isMarked) came.add(key);
    if (after.records[at + 1] === LEAVES && isMarked && came.has(key)) marked.set(key, why);
  }
  for (let at = 0; at < after.units.length; at += UNIT) {
    const key = keyOf(after.units, at + 1);
    if (((after.units[at + 5] ?? 0) & MARK.congestion) !== 0 && came.has(key)) marked.set(key, why);
  }
  return marked;
}
