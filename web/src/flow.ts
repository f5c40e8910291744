// The colour of each flow: eight that colour-blind people can distinguish (Okabe and Ito), then again.

export const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a100", "#7f7f7f"] as const;

/** A circuit on which acknowledgements travel has no flow of its own. */
const PLAIN = "#999999";

export function colour(index: number): string {
  return index < 0 ? PLAIN : (COLOURS[index % COLOURS.length] ?? PLAIN);
}

/** The number of the flow of each circuit; -1 for one that only carries acknowledgements. */
export function flowOf(circuits: (string | null)[], flows: string[]): number[] {
  return circuits.map((name) => (name === null ? -1 : flows.indexOf(name)));
}
