// What moves between two pictures: units that arrive, leave, are lost or get a congestion mark, each from the instant of its event.

import { ARRIVES, LEAVES, MARK, lossOf } from "./protocol";
import type { Identity, Picture, Unit, UnitEvent } from "./protocol";

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
    const events = latest(after.records);
    const start = events[0]?.time ?? 0;
    const scale = span / Math.max(1, after.now - start);
    const places = placesOf(before, size, events);
    const flight = (kind: Kind, { time, circuit, octets }: UnitEvent, place: number, word: string): Flight => ({
      kind,
      birth: moves ? now + (time - start) * scale : -Infinity,
      circuit,
      octets,
      place,
      word,
      picture: this.pictures,
    });
    const tail = filled(after, size);
    const marked = marksOf(before, after, reasons);
    for (const event of events) {
      const [key, loss] = [keyOf(event), lossOf(event)];
      if (event.what === ARRIVES && moves) this.arriving.set(key, flight("in", event, 0, ""));
      if (event.what === LEAVES && moves) this.others.push(flight("out", event, 0, ""));
      if (loss !== undefined) this.lose(key, flight("lost", event, places.get(key) ?? tail, reasons[loss] ?? ""));
      if (marked.has(key)) this.others.push(flight("mark", event, this.placeIn(after, key, size), marked.get(key) ?? ""));
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

/** The identity of a unit as one number. */
export function keyOf({ circuit, frame, index }: Identity): number {
  return (circuit * 65536 + index) * 2 ** 20 + (frame % 2 ** 20);
}

/** The latest events, as many as a reader can distinguish. */
function latest(events: UnitEvent[]): UnitEvent[] {
  return events.slice(-2 * MOST);
}

/** Whether a unit or an event has a congestion mark. */
function isMarked({ marks }: { marks: number }): boolean {
  return (marks & MARK.congestion) !== 0;
}

function filled(picture: Picture, size: (octets: number) => number): number {
  return picture.units.reduce((sum, { octets }) => sum + size(octets), 0);
}

/** Where the lost units were in the picture before. */
function placesOf(before: Picture | undefined, size: (octets: number) => number, events: UnitEvent[]): Map<number, number> {
  const lost = new Set(events.filter((event) => lossOf(event) !== undefined).map(keyOf));
  return before && lost.size > 0 ? places(before, size, lost) : new Map();
}

/** The places of these units in a picture. */
function places(picture: Picture, size: (octets: number) => number, wanted: Set<number>): Map<number, number> {
  const found = new Map<number, number>();
  let start = 0;
  for (const unit of picture.units) {
    const key = keyOf(unit);
    if (wanted.has(key)) found.set(key, start);
    start += size(unit.octets);
  }
  return found;
}

/** Units that have got a congestion mark at this port, and why: they came without one and are queued or have left with one. */
function marksOf(before: Picture | undefined, after: Picture, reasons: string[]): Map<number, string> {
  const why = after.marked.flatMap((count, at) => (count > (before?.marked[at] ?? 0) ? [reasons[at] ?? ""] : [])).join(", ");
  const marked = new Map<number, string>();
  if (why === "") return marked;
  const came = new Set((before?.units ?? []).filter((unit) => !isMarked(unit)).map(keyOf));
  const mark = (unit: Unit | UnitEvent): void => {
    if (isMarked(unit) && came.has(keyOf(unit))) marked.set(keyOf(unit), why);
  };
  for (const event of after.records) {
    if (event.what === ARRIVES && !isMarked(event)) came.add(keyOf(event));
    if (event.what === LEAVES) mark(event);
  }
  after.units.forEach(mark);
  return marked;
}
