// Numbers as people read them.

/** Picoseconds in a second. */
export const PER_SECOND = 1e12;

export function seconds(picoseconds: number): number {
  return picoseconds / PER_SECOND;
}

export function picoseconds(seconds: number): number {
  return Math.round(seconds * PER_SECOND);
}

/** A span in a unit that suits it: 12.5 µs, 3.2 ms. */
export function span(picoseconds: number): string {
  const units: [number, string][] = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"]];
  const [size, unit] = units.find(([size]) => picoseconds >= size) ?? [1e3, "ns"];
  return `${Number((picoseconds / size).toPrecision(4))} ${unit}`;
}

/** An instant to the nanosecond, with every group of three digits apart. */
export function instant(picoseconds: number): string {
  const [whole, fraction] = (picoseconds / PER_SECOND).toFixed(9).split(".");
  return `${whole}.${fraction?.match(/.{3}/g)?.join(" ")} s`;
}

/** A text of at most this many letters, cut in its middle. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

export function count(value: number): string {
  return value.toLocaleString("en-GB");
}

/** Octets in a unit that suits them: 87.8 kB. */
export function octets(value: number): string {
  const units: [number, string][] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];
  const [size, unit] = units.find(([size]) => value >= size) ?? [1, "bytes"];
  return `${Number((value / size).toPrecision(3))} ${unit}`;
}

/** A rate in a unit that suits it: 12.5 Mb/s. */
export function rate(bitsPerSecond: number): string {
  const units: [number, string][] = [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"]];
  const [size, unit] = units.find(([size]) => bitsPerSecond >= size) ?? [1, "b/s"];
  return `${Number((bitsPerSecond / size).toPrecision(3))} ${unit}`;
}
