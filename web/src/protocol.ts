// What the page asks of the engine and what it gets: see crates/web/src/request.rs. Times are picoseconds.

export interface ScenarioText {
  text: string;
  name: string;
  sets?: string[];
  /** Its digits: a number of JavaScript holds 53 bits, and a seed has 64. */
  seed?: string;
}

export interface Port {
  name: string;
  measure: string;
  capacity: number | null;
  rate: number;
  cells: boolean;
  /** Octets of a cell of packet memory, where packets take whole ones. */
  cell: number | null;
  limited: boolean;
}

export interface Scenario {
  name: string;
  title: string;
  seed: string;
  duration: number;
  warmup: number;
  ports: Port[];
  port: number;
  /** What the line of the port in view can carry in equal parts of the run, in bits per second, if its rate changes. */
  course: number[] | null;
  thresholds: [string, number][];
  flows: string[];
  /** The flows with figures over time, by their numbers: all, or of many the first that pass the port. */
  listed: number[];
  /** The flows whose data pass the port in view. */
  passing: number[];
  /** The variables of the port's policies: name, and queue if each queue has one. */
  state: [string, number | null][];
  /** The losses by intent, as a scenario writes each. */
  losses: string[];
  circuits: (string | null)[];
  reasons: string[];
  /** Of each reason: a unit is lost because … */
  meanings: string[];
  /** The memory that the port in view shares. */
  memory: Memory | null;
  policies: { admission: Policy; pushout?: Policy | null; scheduler?: Policy | null; discipline?: string | null };
}

export type Policy = { policy: string } & Record<string, unknown>;

export interface Memory {
  name: string;
  /** Its section in the scenario. */
  section: string;
  cells: number;
  /** Name, shared room and headroom of each pool, in cells. */
  pools: [string, number, number][];
  /** Line, class, pool and reserved room of each queue. */
  queues: [number, string, number, number][];
}

/** Cells in use: shared room and headroom of each pool, and what each queue has and may have. */
export interface Filled {
  used: number;
  pools: [number, number][];
  queues: [number, number | null][];
}

export interface Opened {
  handle: number;
  scenario: Scenario;
  warnings: { code: string; message: string }[];
  fast: boolean;
}

export interface Window {
  cwnd: number;
  ssthresh: number | null;
  srtt: number | null;
  flight: number;
  recovering: boolean;
  timeouts: number;
  fast_retransmits: number;
}

/** What identifies a frame: its circuit, and its number there. */
export interface Frame {
  circuit: number;
  frame: number;
}

/** What identifies a unit: its frame, and its place there. */
export interface Identity extends Frame {
  index: number;
}

/** A unit in the buffer. */
export interface Unit extends Identity {
  /** 0 is the line. */
  queue: number;
  octets: number;
  /** A sum of values of `MARK`. */
  marks: number;
}

/** What happened to a unit at the port in view. */
export interface UnitEvent extends Identity {
  time: number;
  /** `ARRIVES`, `LEAVES`, or 2 and more for a loss: see `lossOf`. */
  what: number;
  octets: number;
  /** A sum of values of `MARK`. */
  marks: number;
}

/** Figures over time: what holds at one instant. */
export interface Row {
  time: number;
  occupancy: number;
  /** Units lost so far, by reason. */
  lost: number[];
  /** Units marked so far. */
  marked: number;
  /** Octets that all flows have delivered. */
  delivered: number;
  /** Of the flows of `Scenario.listed`. */
  flows: { window: number | null; delivered: number }[];
  /** Of the variables of `Scenario.state`. */
  state: number[];
}

export interface Picture {
  now: number;
  ended: boolean;
  /** From the head of the buffer to its tail. */
  units: Unit[];
  occupancy: number;
  /** Of every port: its occupancy, and the units that it has lost. */
  occupancies: number[];
  losses: number[];
  /** Of every port: whether a memory has stopped a class of it. */
  paused: boolean[];
  memory: Filled | null;
  queue_thresholds: (number | null)[];
  sent: number;
  lost: number[];
  marked: number[];
  /** Of the flows of `Scenario.listed`. */
  flows: { delivered: number; window: Window | null }[];
  /** Octets of every flow. */
  delivered: number[];
  /** In the order of time. */
  records: UnitEvent[];
  missed: number;
  rows: Row[];
}

/** A picture as the engine sends it; `decode.ts` gives its lists names. */
export interface SentPicture extends Omit<Picture, "units" | "records" | "rows"> {
  /** Six numbers for each unit: queue, circuit, frame, index, octets, marks. */
  units: ArrayLike<number>;
  /** Seven numbers for each: time, what happened, circuit, frame, index, octets, marks. */
  records: ArrayLike<number>;
  /** Time, occupancy, losses by reason, marks, octets of all flows, window and octets of each listed one, state. */
  rows: [number, number, number[], number, number, [number | null, number][], number[]][];
}

export interface Place extends Identity {
  what: number;
}

export interface Difference {
  difference: { time: number; records: [Place | null, Place | null] } | null;
  /** The instant up to which the runs have been compared. */
  seen: number;
}

/** The instant just after an event, if there is one before `seen`. */
export interface Found {
  time: number | null;
  seen: number;
}

export interface Parameter {
  name: string;
  unit: string;
  default: unknown;
  doc: string;
  schema: { type?: string; minimum?: number; maximum?: number; enum?: string[] };
}

export interface Entry {
  kind: string;
  name: string;
  header: string;
  source: string;
  experimental: boolean;
  params: Parameter[];
}

export type EventName = "unit" | "frame" | "drop" | "mark" | "round-trip";

/** Which frame, of those that ports lost, and how many decisions before are tried: see crates/core/src/why/request.rs. */
export interface Question {
  at: string[];
  flow: string;
  frame: number;
  last: number;
  /** The latest decisions, which an earlier part of the search has tried. */
  skip: number;
  sets: number;
}

export type Request =
  | ({ do: "open"; port?: string } & ScenarioText)
  | { do: "go"; handle: number; to: number; have: number }
  | { do: "when"; handle: number; event: EventName; until: number }
  | { do: "close"; handle: number }
  | { do: "difference"; a: number; b: number; until: number }
  | ({ do: "run" } & ScenarioText)
  | ({ do: "why"; question: Question } & ScenarioText)
  | ({ do: "toml" } & ScenarioText)
  | { do: "policies" };

export interface Start {
  start: WebAssembly.Module;
}

export interface Call {
  id: number;
  request: Request;
}

export interface Answer {
  id: number;
  answer?: unknown;
  error?: string;
  /** The engine has stopped, and its runs are lost. */
  stopped?: boolean;
}

export const ARRIVES = 0;
export const LEAVES = 1;
export const MARK = { eom: 1, congestion: 2, discardable: 4, broken: 8 } as const;

/** The number of the reason for a loss in `Scenario.reasons`; none for an event that is not a loss. */
export function lossOf({ what }: { what: number }): number | undefined {
  return what > LEAVES ? what - LEAVES - 1 : undefined;
}

/** A frame that the port accepted; `number` counts the frames of its flow from 1, as the engine does. */
export interface Decision {
  flow: string;
  number: number;
  time_s: number;
  /** Losses of the whole run if the port had refused it. */
  losses: number;
}

/** Earlier decisions of a port that would have saved a frame. */
export interface Why {
  /** How many decisions were tried. */
  decisions: number;
  /** Losses of the whole run as it was. */
  losses: number;
  saves: Decision[];
}
