// Where the units of a buffer are drawn: in rows, as a text is, each as wide as the room that it takes.

import type { Port } from "./protocol";

export interface Layout {
  rows: number;
  rowHeight: number;
  /** Pixels for one of what the port counts. */
  scale: number;
  width: number;
}

/** A piece of a row. */
export interface Piece {
  row: number;
  x: number;
  width: number;
}

/** Pixels of the narrowest unit: about 600 of them fit into one row. */
const LEAST = 0.95;
const MOST = 22;
/** More units than this cannot be seen apart: they stand in one row, together by flow. */
export const MOST_APART = 600;
const TALLEST = 44;

/** What a unit takes of the buffer, in the port's measure. */
export function sizeOf({ measure, cells, cell }: Port, octets: number): number {
  if (cell !== null) return Math.ceil(octets / cell);
  return cells || measure !== "bytes" ? 1 : octets;
}

/** The layout for a buffer of this capacity whose smallest unit takes `unit` of it. */
export function layout(capacity: number, unit: number, width: number, height: number): Layout {
  const units = Math.max(1, capacity / unit);
  const least = units > MOST_APART ? 1 : Math.max(1, Math.ceil((units * LEAST) / width));
  const rows = Math.min(least, Math.max(1, Math.floor(height / 10)));
  const scale = Math.min((rows * width) / capacity, MOST / unit);
  return { rows, rowHeight: Math.min(TALLEST, Math.floor(height / rows)), scale, width };
}

/** The pieces of what takes the room from `start` on. */
export function pieces({ scale, width, rows }: Layout, start: number, size: number): Piece[] {
  let from = start * scale;
  const end = (start + size) * scale;
  const first = Math.floor(from / width + 1e-9);
  if (end <= (first + 1) * width && first < rows) return [{ row: first, x: from - first * width, width: end - from }];
  const found: Piece[] = [];
  while (end - from > 1e-6) {
    const row = Math.floor(from / width + 1e-9);
    if (row >= rows) break;
    const until = Math.min(end, (row + 1) * width);
    found.push({ row, x: from - row * width, width: until - from });
    from = until;
  }
  return found;
}
