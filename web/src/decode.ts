// The lists of numbers in a picture of the engine, as units, events and rows whose parts have names.

import type { Picture, Row, SentPicture, Unit, UnitEvent } from "./protocol";

/** Numbers that the engine sends for a unit. */
const UNIT = 6;
/** Numbers that the engine sends for an event. */
const EVENT = 7;

export function decoded(sent: SentPicture): Picture {
  const [units, records] = [all(sent.units, UNIT, unitAt), all(sent.records, EVENT, eventAt)];
  return { ...sent, units, records, rows: sent.rows.map(row) };
}

function unitAt(numbers: ArrayLike<number>, at: number): Unit {
  return {
    queue: numbers[at] ?? 0,
    circuit: numbers[at + 1] ?? 0,
    frame: numbers[at + 2] ?? 0,
    index: numbers[at + 3] ?? 0,
    octets: numbers[at + 4] ?? 0,
    marks: numbers[at + 5] ?? 0,
  };
}

function eventAt(numbers: ArrayLike<number>, at: number): UnitEvent {
  return {
    time: numbers[at] ?? 0,
    what: numbers[at + 1] ?? 0,
    circuit: numbers[at + 2] ?? 0,
    frame: numbers[at + 3] ?? 0,
    index: numbers[at + 4] ?? 0,
    octets: numbers[at + 5] ?? 0,
    marks: numbers[at + 6] ?? 0,
  };
}

function row([time, occupancy, lost, marked, delivered, flows, state]: SentPicture["rows"][number]): Row {
  return { time, occupancy, lost, marked, delivered, flows: flows.map(([window, delivered]) => ({ window, delivered })), state };
}

/** Read an object from every `size` numbers. */
function all<T>(numbers: ArrayLike<number>, size: number, readAt: (numbers: ArrayLike<number>, at: number) => T): T[] {
  if (numbers.length % size !== 0) throw new Error(`the engine must send a multiple of ${size} numbers, not ${numbers.length}`);
  const found: T[] = [];
  for (let at = 0; at < numbers.length; at += size) found.push(readAt(numbers, at));
  return found;
}
