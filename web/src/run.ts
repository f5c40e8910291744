// One of the two runs: what it was opened with, its latest picture, its figures over time.

import type { Client } from "./client";
import { LEAVES, RECORD } from "./protocol";
import type { EventName, Picture, Row, Scenario, ScenarioText } from "./protocol";
import { flowOf } from "./flow";
import { Followed } from "./followed";

export interface Drop {
  time: number;
  flow: string;
  frame: number;
  index: number;
  reason: string;
  colour: number;
}

export class Run {
  picture: Picture | undefined;
  readonly rows: Row[] = [];
  readonly flow: number[];
  /** What was lost on the way to the picture, the latest last. */
  drops: Drop[] = [];
  followed: Followed | undefined;

  private constructor(
    private readonly client: Client,
    readonly handle: number,
    readonly asked: ScenarioText,
    readonly scenario: Scenario,
    readonly warnings: string[],
  ) {
    this.flow = flowOf(scenario.circuits, scenario.flows);
  }

  static async open(client: Client, asked: ScenarioText, port?: string): Promise<Run> {
    const { handle, scenario, warnings } = await client.open(asked, port);
    return new Run(client, handle, asked, scenario, warnings.map(({ message }) => message));
  }

  async go(to: number): Promise<void> {
    const back = to < this.now;
    this.show(await this.client.go(this.handle, Math.min(to, this.scenario.duration), this.rows.length), back);
  }

  async next(event: EventName): Promise<void> {
    this.show(await this.client.next(this.handle, event, this.rows.length), false);
  }

  /** Follow a frame from now on. */
  follow(circuit: number, frame: number): void {
    this.followed = new Followed(circuit, frame, this.flowName(circuit));
  }

  close(): Promise<unknown> {
    return this.client.close(this.handle);
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
  private show(picture: Picture, back: boolean): void {
    this.picture = picture;
    this.rows.push(...picture.rows);
    if (back && this.followed) this.follow(this.followed.circuit, this.followed.frame);
    else this.followed?.see(picture.records, this.scenario.reasons);
    this.drops = back ? [] : this.dropsOf(picture.records);
  }

  private dropsOf(records: number[]): Drop[] {
    const drops: Drop[] = [];
    for (let at = 0; at < records.length; at += RECORD) {
      const [time = 0, what = 0, circuit = 0, frame = 0, index = 0] = records.slice(at, at + RECORD);
      if (what <= LEAVES) continue;
      const reason = this.scenario.reasons[what - 2] ?? "";
      drops.push({ time, flow: this.flowName(circuit), frame, index, reason, colour: this.flow[circuit] ?? -1 });
    }
    return drops;
  }
}
