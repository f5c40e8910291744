// A frame that the reader has clicked on: what has become of its units, as far as they were seen.

import { LEAVES, MARK, RECORD, UNIT } from "./protocol";
import type { Scenario } from "./protocol";

export class Followed {
  private left = 0;
  private readonly lost = new Map<string, number>();

  constructor(
    readonly circuit: number,
    readonly frame: number,
    private readonly name: string,
  ) {}

  /** Whether a unit belongs to it. */
  has(circuit: number, frame: number): boolean {
    return circuit === this.circuit && frame === this.frame;
  }

  /** Count what the port has done with its units. */
  see(records: ArrayLike<number>, { reasons, meanings }: Scenario): void {
    for (let at = 0; at < records.length; at += RECORD) {
      if (!this.has(records[at + 2] ?? -1, records[at + 3] ?? -1)) continue;
      const what = records[at + 1] ?? 0;
      if (what === LEAVES) this.left += 1;
      if (what <= LEAVES) continue;
      const why = `${reasons[what - 2]}: ${meanings[what - 2]}`;
      this.lost.set(why, (this.lost.get(why) ?? 0) + 1);
    }
  }

  /** Its fate in words, with what of it is in the buffer. */
  fate(units: ArrayLike<number>): string {
    let [here, broken] = [0, false];
    for (let at = 0; at < units.length; at += UNIT) {
      if (!this.has(units[at + 1] ?? -1, units[at + 2] ?? -1)) continue;
      here += 1;
      broken ||= ((units[at + 5] ?? 0) & MARK.broken) !== 0;
    }
    const lost = [...this.lost].map(([why, many]) => `${many} lost (${why})`);
    const parts = [`${here} in the buffer`, `${this.left} sent`, ...lost, ...(broken ? ["what is left of it is carried in vain"] : [])];
    return `${this.name}, frame ${this.frame}: ${parts.join(", ")}`;
  }
}
