// A frame that the reader has clicked on: what has become of its units, as far as they were seen.

import { LEAVES, MARK, lossOf } from "./protocol";
import type { Frame, Scenario, Unit, UnitEvent } from "./protocol";

export class Followed {
  private left = 0;
  private readonly lost = new Map<string, number>();

  constructor(
    readonly circuit: number,
    readonly frame: number,
    private readonly name: string,
  ) {}

  /** The flow that it belongs to, if its circuit carries one. */
  get flow(): string {
    return this.name;
  }

  /** Whether the port has lost a unit of it. */
  get isLost(): boolean {
    return this.lost.size > 0;
  }

  /** Whether a unit belongs to it. */
  has({ circuit, frame }: Frame): boolean {
    return circuit === this.circuit && frame === this.frame;
  }

  /** Count what the port has done with its units. */
  see(events: UnitEvent[], { reasons, meanings }: Scenario): void {
    for (const event of events) {
      if (!this.has(event)) continue;
      if (event.what === LEAVES) this.left += 1;
      const loss = lossOf(event);
      if (loss === undefined) continue;
      const why = `${reasons[loss]}: ${meanings[loss]}`;
      this.lost.set(why, (this.lost.get(why) ?? 0) + 1);
    }
  }

  /** Its number as `pushout why` counts it, from 1. */
  private get number(): number {
    return this.frame + 1;
  }

  /** Its fate in words, with what of it is in the buffer. */
  fate(units: Unit[]): string {
    const own = units.filter((unit) => this.has(unit));
    const isBroken = own.some(({ marks }) => (marks & MARK.broken) !== 0);
    const lost = [...this.lost].map(([why, many]) => `${many} lost (${why})`);
    const parts = [`${own.length} in the buffer`, `${this.left} sent`, ...lost, ...(isBroken ? ["what is left of it is carried in vain"] : [])];
    return `${this.name}, frame ${this.number}: ${parts.join(", ")}`;
  }
}
