// Figures over time as rows: for a file, and for those who read a table rather than a chart.

import type { Run } from "./run";
import { seconds } from "./words";

export type Cell = string | number;

/** A heading and the rows of all runs up to an instant, the runs one after the other. */
export function table(runs: Run[], until: number): [string[], Cell[][]] {
  const port = runs[0]?.port;
  const reasons = (runs[0]?.scenario.reasons ?? []).map((_, at) => at).filter((at) => runs.some((run) => happened(run, at)));
  const flows = (runs[0]?.listed ?? []).map(([, name]) => name);
  const state = [...new Set(runs.flatMap((run) => run.scenario.state.map(stateName)))];
  const heading = [
    "run",
    "time_s",
    `occupancy_${port?.measure.replaceAll(" ", "_") ?? "units"}`,
    ...reasons.map((at) => `lost_${runs[0]?.scenario.reasons[at]}`),
    "marked",
    "delivered_bytes_all_flows",
    ...flows.flatMap((flow) => [`cwnd_bytes_${flow}`, `delivered_bytes_${flow}`]),
    ...state,
  ];
  const rows = runs.flatMap((run, at) => {
    const places = state.map((name) => run.scenario.state.findIndex((each) => stateName(each) === name));
    return run.rows
      .filter(({ time }) => time <= until)
      .map(({ time, occupancy, lost, marked, delivered: all, flows: states, state: kept }) => [
        "AB"[at] ?? "",
        seconds(time),
        occupancy,
        ...reasons.map((reason) => lost[reason] ?? 0),
        marked,
        all,
        ...states.flatMap(({ window, delivered }) => [window ?? "", delivered]),
        ...places.map((place) => kept[place] ?? ""),
      ]);
  });
  return [heading, rows];
}

/** The column of a variable of the port's policies. */
function stateName([name, queue]: [string, number | null]): string {
  return queue === null ? `state_${name}` : `state_${name}_queue_${queue}`;
}

function happened(run: Run, reason: number): boolean {
  return (run.rows.at(-1)?.lost[reason] ?? 0) > 0;
}

/** The same as a file of comma-separated values (RFC 4180). */
export function csv(runs: Run[], until: number): string {
  const [heading, rows] = table(runs, until);
  return [heading, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

function quoted(cell: Cell): string {
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const ROWS_SHOWN = 12;

/** The latest rows of each run, as a table of the page. */
export function shownTable(runs: Run[], until: number): HTMLTableElement {
  const element = document.createElement("table");
  const [heading] = table(runs, -1);
  const rows = runs.flatMap((_, at) => table(runs, until)[1].filter(([run]) => run === "AB"[at]).slice(-ROWS_SHOWN));
  const line = (cells: Cell[], kind: "th" | "td") => {
    const row = document.createElement("tr");
    for (const cell of cells) {
      const box = document.createElement(kind);
      if (kind === "th") box.scope = "col";
      box.textContent = String(cell);
      row.append(box);
    }
    return row;
  };
  element.createTHead().append(line(heading, "th"));
  element.createTBody().append(...rows.map((row) => line(row, "td")));
  return element;
}
