// A frame that the reader has clicked on: what has become of its units since then.

import { LEAVES, MARK, RECORD, UNIT } from "./protocol";

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
  see(records: number[], reasons: string[]): void {
    for (let at = 0; at < records.length; at += RECORD) {
      const [what = 0, circuit = 0, frame = 0] = records.slice(at + 1, at + 4);
      if (!this.has(circuit, frame)) continue;
      if (what === LEAVES) this.left += 1;
      const reason = reasons[what - 2];
      if (reason !== undefined) this.lost.set(reason, (this.lost.get(reason) ?? 0) + 1);
    }
  }

  /** Its fate in words, with what of it is in the buffer. */
  fate(units: number[]): string {
    let [here, broken] = [0, false];
    for (let at = 0; at < units.length; at += UNIT) {
      if (!this.has(units[at + 1] ?? -1, units[at + 2] ?? -1)) continue;
      here += 1;
      broken ||= ((units[at + 5] ?? 0) & MARK.broken) !== 0;
    }
    const lost = [...this.lost].map(([reason, many]) => `${many} lost (${reason})`);
    const parts = [`${here} in the buffer`, `${this.left} sent since`, ...lost, ...(broken ? ["carried in vain"] : [])];
    return `${this.name}, frame ${this.frame}: ${parts.join(", ")}`;
  }
}
