// What is shown, as the part of an address behind "#": the scenario by its name, the overrides of both runs, the instant.

export interface Shown {
  preset: string;
  sets: string[][];
  now: number;
}

const VERSION = 1;

export function toLink({ preset, sets, now }: Shown): string {
  return `#${encodeURIComponent(JSON.stringify([VERSION, preset, sets, now]))}`;
}

/** What a link shows; a message if it cannot be read. */
export function fromLink(hash: string): Shown | string | undefined {
  if (hash.length < 2) return undefined;
  try {
    const [version, preset, sets, now] = JSON.parse(decodeURIComponent(hash.slice(1))) as unknown[];
    if (version !== VERSION) return `the link has version ${String(version)}, this page reads version ${VERSION}`;
    const isSets = Array.isArray(sets) && sets.every((list) => Array.isArray(list) && list.every((set) => typeof set === "string"));
    if (typeof preset !== "string" || !isSets || typeof now !== "number") return "the link is damaged";
    return { preset, sets: sets as string[][], now };
  } catch {
    return "the link is damaged";
  }
}
