// One of the two runs: what it was opened with, its latest picture, its figures over time.

import type { Client } from "./client";
import { flowOf } from "./flow";
import { Followed } from "./followed";
import { sizeOf } from "./layout";
import { Motion } from "./motion";
import { ARRIVES, lossOf } from "./protocol";
import type { EventName, Found, Frame, Picture, Row, Scenario, ScenarioText, UnitEvent } from "./protocol";

export interface Drop extends UnitEvent {
  /** Its number in `Scenario.reasons`. */
  reason: number;
}

const DROPS_KEPT = 40;
/** Events that are kept, so that a frame can be followed from before the click. */
const EVENTS_KEPT = 8192;

export class Run {
  picture: Picture | undefined;
  readonly rows: Row[] = [];
  readonly flow: number[];
  readonly motion = new Motion();
  /** What was lost and is not listed yet, the latest last. */
  drops: Drop[] = [];
  followed: Followed | undefined;
  /** Frames whose refusal would have saved the frame that is followed: circuit and number. */
  saviours: ReadonlySet<string> = new Set();
  private log: UnitEvent[] = [];

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

  async go(to: number, moves: boolean): Promise<void> {
    const back = to < this.now;
    this.show(await this.client.go(this.handle, Math.min(to, this.scenario.duration), this.rows.length), back, moves);
  }

  when(event: EventName, until: number): Promise<Found> {
    return this.client.when(this.handle, event, until);
  }

  /** The scenario with its overrides, as a file. */
  async toml(): Promise<string> {
    return this.client.toml(this.asked);
  }

  /** Follow a frame, from as far back as it was seen. */
  follow({ circuit, frame }: Frame): void {
    if (!this.followed?.has({ circuit, frame })) this.saviours = new Set();
    this.followed = new Followed(circuit, frame, this.flowName(circuit));
    this.followed.see(this.log, this.scenario);
  }

  get now(): number {
    return this.picture?.now ?? 0;
  }

  get port() {
    const port = this.scenario.ports[this.scenario.port];
    if (!port) throw new Error("the engine shows a port that it does not have");
    return port;
  }

  /** The flows with figures over time: number and name. */
  get listed(): [number, string][] {
    return this.scenario.listed.map((flow) => [flow, this.scenario.flows[flow] ?? ""]);
  }

  /** The thresholds in force, with their names. */
  thresholds(): [string, number][] {
    const moving = this.picture?.queue_thresholds ?? [];
    const finite = moving.filter((level): level is number => level !== null);
    const lowest = finite.length > 0 ? Math.min(...finite) : undefined;
    return lowest === undefined ? this.scenario.thresholds : [["threshold of a queue", lowest]];
  }

  /** The word for what happened to a unit. */
  word(event: { what: number }): string {
    const loss = lossOf(event);
    if (loss !== undefined) return `lost: ${this.scenario.reasons[loss]}`;
    return event.what === ARRIVES ? "arrives" : "leaves";
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
    this.drops = back ? [] : [...this.drops, ...dropsOf(picture.records)].slice(-DROPS_KEPT);
    const size = (octets: number) => sizeOf(this.port, octets);
    if (back || !before) this.motion.clear();
    else this.motion.see(before, picture, this.scenario.reasons, size, moves);
  }

  private see(events: UnitEvent[]): void {
    this.log = [...this.log, ...events].slice(-EVENTS_KEPT);
    this.followed?.see(events, this.scenario);
  }

  private rewind(): void {
    this.log = [];
    if (this.followed) this.follow(this.followed);
  }
}

/** The losses among these events. */
function dropsOf(events: UnitEvent[]): Drop[] {
  return events.flatMap((event) => {
    const reason = lossOf(event);
    return reason === undefined ? [] : [{ ...event, reason }];
  });
}
