// One of the two runs: what it was opened with, its latest picture, its figures over time.

import type { Client } from "./client";
import { flowOf } from "./flow";
import { Followed } from "./followed";
import { Motion } from "./motion";
import { LEAVES, RECORD } from "./protocol";
import type { EventName, Picture, Row, Scenario, ScenarioText } from "./protocol";
import { sizeOf } from "./strip";

export interface Drop {
  time: number;
  circuit: number;
  frame: number;
  index: number;
  reason: number;
}

const DROPS_KEPT = 40;
/** Records that are kept, so that a frame can be followed from before the click. */
const KEPT = 8192 * RECORD;

export class Run {
  picture: Picture | undefined;
  readonly rows: Row[] = [];
  readonly flow: number[];
  readonly motion = new Motion();
  /** What was lost and is not listed yet, the latest last. */
  drops: Drop[] = [];
  followed: Followed | undefined;
  private log: number[] = [];
  private readonly stops: number;

  private constructor(
    private readonly engine: Client,
    readonly handle: number,
    readonly asked: ScenarioText,
    readonly scenario: Scenario,
    readonly warnings: string[],
  ) {
    this.flow = flowOf(scenario.circuits, scenario.flows);
    this.stops = engine.stops;
  }

  static async open(client: Client, asked: ScenarioText, port?: string): Promise<Run> {
    const { handle, scenario, warnings } = await client.open(asked, port);
    return new Run(client, handle, asked, scenario, warnings.map(({ message }) => message));
  }

  async go(to: number, moves: boolean): Promise<void> {
    const back = to < this.now;
    this.show(await this.client.go(this.handle, Math.min(to, this.scenario.duration), this.rows.length), back, moves);
  }

  async when(event: EventName): Promise<number | null> {
    return this.client.when(this.handle, event);
  }

  /** The scenario with its overrides, as a file. */
  async toml(): Promise<string> {
    return this.client.toml(this.asked);
  }

  /** Follow a frame, from as far back as it was seen. */
  follow(circuit: number, frame: number): void {
    this.followed = new Followed(circuit, frame, this.flowName(circuit));
    this.followed.see(this.log, this.scenario);
  }

  async close(): Promise<void> {
    if (this.isOpen) await this.engine.close(this.handle);
  }

  private get isOpen(): boolean {
    return this.engine.stops === this.stops;
  }

  private get client(): Client {
    if (!this.isOpen) throw new Error("The engine has stopped. Choose an experiment to go on.");
    return this.engine;
  }

  get now(): number {
    return this.picture?.now ?? 0;
  }

  get port() {
    const port = this.scenario.ports[this.scenario.port];
    if (!port) throw new Error("the engine shows a port that it does not have");
    return port;
  }

  /** The thresholds in force, with their names. */
  thresholds(): [string, number][] {
    const moving = this.picture?.queue_thresholds ?? [];
    const finite = moving.filter((level): level is number => level !== null);
    const lowest = finite.length > 0 ? Math.min(...finite) : undefined;
    return lowest === undefined ? this.scenario.thresholds : [["threshold of a queue", lowest]];
  }

  /** The word for what happened to a unit. */
  word(what: number): string {
    return ["arrives", "leaves"][what] ?? `lost: ${this.scenario.reasons[what - 2]}`;
  }

  flowName(circuit: number): string {
    return this.scenario.circuits[circuit] ?? `circuit ${circuit}`;
  }

  /** On the way back nothing is lost: the engine has come from an earlier instant. */
  private show(picture: Picture, back: boolean, moves: boolean): void {
    const before = this.picture;
    this.picture = picture;
    this.rows.push(...picture.rows);
    if (back) this.rewind();
    else this.see(picture.records);
    this.drops = back ? [] : [...this.drops, ...this.dropsOf(picture.records)].slice(-DROPS_KEPT);
    const size = (octets: number) => sizeOf(this, octets);
    if (back || !before) this.motion.clear();
    else this.motion.see(before, picture, this.scenario.reasons, size, moves);
  }

  private see(records: ArrayLike<number>): void {
    this.log = this.log.concat(Array.from(records)).slice(-KEPT);
    this.followed?.see(records, this.scenario);
  }

  private rewind(): void {
    this.log = [];
    if (this.followed) this.follow(this.followed.circuit, this.followed.frame);
  }

  private dropsOf(records: ArrayLike<number>): Drop[] {
    const drops: Drop[] = [];
    for (let at = 0; at < records.length; at += RECORD) {
      const what = records[at + 1] ?? 0;
      if (what <= LEAVES) continue;
      const [time = 0, circuit = 0, frame = 0, index = 0] = [records[at], records[at + 2], records[at + 3], records[at + 4]];
      drops.push({ time, circuit, frame, index, reason: what - 2 });
    }
    return drops;
  }
}
