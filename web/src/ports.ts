// Several ports at once: how full each is, what it has lost, and where it shares a memory, what each queue has and may have.

import type { Run } from "./run";
import { count } from "./words";
import { attribute, variable, words } from "./write";

interface Level {
  name: string;
  /** The port that a click shows. */
  port: string;
  used: number;
  /** What it may have now; none if nothing limits it but the memory. */
  most: number | null;
  lost: number | null;
}

const ROWS_AT_MOST = 24;
/** Queues of a memory that stand beside the strip: those that have held most. */
const QUEUES_AT_MOST = 3;

export class Ports {
  readonly root = document.createElement("div");
  private readonly head = document.createElement("p");
  private readonly rows = document.createElement("ul");
  /** The most that each has held. */
  private readonly peaks = new Map<number, number>();

  constructor(private readonly show: (port: string) => void) {
    this.root.className = "ports";
    this.root.append(this.head, this.rows);
  }

  /** A run has been opened. */
  open(): void {
    this.peaks.clear();
    this.rows.replaceChildren();
  }

  draw(run: Run): void {
    const all = run.scenario.memory ? queues(run) : buffers(run);
    this.root.hidden = all.length < 2;
    if (this.root.hidden) return;
    all.forEach(({ used, lost }, at) => {
      if (used > 0 || (lost ?? 0) > 0 || all.length <= 8) this.peaks.set(at, Math.max(used, this.peaks.get(at) ?? 0));
    });
    const most = run.scenario.memory ? QUEUES_AT_MOST : ROWS_AT_MOST;
    const fullest = [...this.peaks].sort(([a, x], [b, y]) => y - x || a - b).slice(0, most);
    const busy = fullest.map(([at]) => at).sort((a, b) => a - b);
    const others = all.length - busy.length;
    const rest = others > 0 ? `; ${count(others)} other ${run.scenario.memory ? "queues" : "ports"}` : "";
    words(this.head, `${heading(run)}${rest}`);
    const scale = run.scenario.memory?.cells ?? Math.max(1, ...all.map(({ used, most }) => most ?? used));
    while (this.rows.children.length > busy.length) this.rows.lastElementChild?.remove();
    busy.forEach((at, place) => {
      const level = all[at];
      if (level) this.row(run, place, level, scale);
    });
  }

  /** One level: a button with its name, and a bar with the threshold as a line. */
  private row(run: Run, place: number, { name, port, used, most, lost }: Level, scale: number): void {
    const row = (this.rows.children[place] as HTMLElement | undefined) ?? this.add();
    const [button, bar, says] = [...row.children] as [HTMLButtonElement, HTMLElement, HTMLElement];
    const limit = most === null || most >= scale ? "" : run.scenario.memory ? `, threshold ${count(Math.round(most))}` : ` of ${count(most)}`;
    words(button, name);
    button.onclick = () => this.show(port);
    attribute(button, "aria-pressed", String(port === run.port.name));
    variable(bar, "--used", Math.min(1, used / scale));
    variable(bar, "--most", Math.min(1, (most ?? scale) / scale));
    bar.classList.toggle("free", limit === "" && most === null);
    words(says, `${count(used)}${limit}${lost ? `, ${count(lost)} lost` : ""}`);
  }

  private add(): HTMLElement {
    const row = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    const bar = document.createElement("span");
    bar.className = "level";
    row.append(button, bar, document.createElement("span"));
    this.rows.append(row);
    return row;
  }
}

function heading(run: Run): string {
  const [memory, now] = [run.scenario.memory, run.picture?.memory];
  if (!memory || !now) return "Ports with a limited buffer. Choose one to see its units";
  const pools = memory.pools.map(([name, shared, headroom], at) => {
    const [used = 0, above = 0] = now.pools[at] ?? [];
    return `pool ${name}: ${count(used)} of ${count(shared)} shared${headroom > 0 ? `, headroom ${count(above)} of ${count(headroom)}` : ""}`;
  });
  return [`Memory ${memory.name}: ${count(now.used)} of ${count(memory.cells)} cells`, ...pools].join("; ");
}

/** The queues of the memory, in its cells. */
function queues(run: Run): Level[] {
  const { memory, ports } = run.scenario;
  return (memory?.queues ?? []).map(([line, kind], at) => {
    const [used = 0, most = null] = run.picture?.memory?.queues[at] ?? [];
    const port = ports[line]?.name ?? "";
    return { name: `${port} ${kind}`, port, used, most, lost: null };
  });
}

/** The buffers of all ports that are limited, in the measure of each. */
function buffers(run: Run): Level[] {
  return run.scenario.ports.flatMap(({ name, limited, capacity }, at) => {
    if (!limited) return [];
    const [used, lost] = [run.picture?.occupancies[at] ?? 0, run.picture?.losses[at] ?? 0];
    return [{ name, port: name, used, most: capacity, lost }];
  });
}
