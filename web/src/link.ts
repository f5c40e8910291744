// What is shown, as the part of an address behind "#": a preset by its name alone, or the scenario by its name, the overrides of
// both runs, the instant and the port.

export interface Shown {
  preset: string;
  /** Overrides and instant; without them those of the preset. */
  sets?: string[][];
  now?: number;
  port?: string;
}

const VERSION = 1;

export function toLink({ preset, sets, now, port }: Shown): string {
  const view = [VERSION, preset, sets, now, ...(port === undefined ? [] : [port])];
  return `#${encodeURIComponent(JSON.stringify(view))}`;
}

/** What a link shows; a message if it cannot be read. */
export function fromLink(hash: string): Shown | string | undefined {
  if (hash.length < 2) return undefined;
  if (/^#[\w-]+$/.test(hash)) return { preset: hash.slice(1) };
  try {
    const [version, preset, sets, now, port] = JSON.parse(decodeURIComponent(hash.slice(1))) as unknown[];
    if (version !== VERSION) return `the link has version ${String(version)}, this page reads version ${VERSION}`;
    const isSets = Array.isArray(sets) && sets.every((list) => Array.isArray(list) && list.every((set) => typeof set === "string"));
    const isPort = port === undefined || typeof port === "string";
    if (typeof preset !== "string" || !isSets || typeof now !== "number" || !isPort) return "the link is damaged";
    return { preset, sets: sets as string[][], now, ...(typeof port === "string" ? { port } : {}) };
  } catch {
    return "the link is damaged";
  }
}
