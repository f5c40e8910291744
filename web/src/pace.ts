// How fast time passes on the page: slow by itself around a loss, a mark or a pause, and fast between.

import type { Port } from "./protocol";

/** Octets of a cell on a line, and of a full packet. */
const [CELL, PACKET] = [53, 1500];
/** Seconds of watching in which the line sends a full buffer, where no experiment says how fast time passes. */
const DRAIN = 4;

/** Simulated seconds in a second that suit a port. */
export function paceOf({ measure, cells, cell, capacity, rate }: Port): number {
  if (capacity === null) return 1e-3;
  const octets = measure === "bytes" ? 1 : (cell ?? (cells ? CELL : PACKET));
  return Math.min(0.1, Math.max(1e-5, (8 * octets * capacity) / rate / DRAIN));
}

/** Milliseconds of slow motion after an event, and before the next one is slow again. */
const [SLOW, FAST] = [1200, 3000];
/** The share of the speed in slow motion, and how much faster an empty buffer passes. */
const [SHARE, EMPTY] = [0.2, 8];

export class Pace {
  /** Simulated seconds in a second. */
  base = 1e-3;
  private until = -Infinity;
  private events = 0;

  /** Count events so far: new ones are worth a look, unless others have just been. */
  see(events: number, now: number): void {
    const isNew = events !== this.events;
    this.events = events;
    if (isNew && now > this.until + FAST) this.until = now + SLOW;
  }

  /** Begin somewhere else: these events are not new. */
  rest(events: number): void {
    this.events = events;
    this.until = -Infinity;
  }

  isSlow(now: number): boolean {
    return now < this.until;
  }

  /** Simulated seconds in a second at this moment; faster where every buffer is empty. */
  at(now: number, isEmpty = false): number {
    if (this.isSlow(now)) return this.base * SHARE;
    return isEmpty ? this.base * EMPTY : this.base;
  }
}
