// The two runs, one clock: opening, going on, going back, comparing.

import { Charts } from "./charts";
import type { Client } from "./client";
import { type Choice, override } from "./form";
import { Panel } from "./panel";
import type { Preset } from "./presets";
import { LEAVES } from "./protocol";
import type { Entry, EventName } from "./protocol";
import { Run } from "./run";
import { instant } from "./words";

export class Lab {
  runs: Run[] = [];
  preset: Preset | undefined;
  sets: string[][] = [];
  private readonly panels: Panel[];
  private readonly charts: Charts;
  private chain: Promise<void> = Promise.resolve();
  private charted = 0;
  private later: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly client: Client,
    entries: Entry[],
    private readonly place: HTMLElement,
    charts: HTMLElement,
    private readonly told: (message: string, wrong?: boolean) => void,
    private readonly drawn: () => void,
  ) {
    const policies = entries.filter(({ kind }) => kind === "admission");
    this.panels = ["A", "B"].map((letter, at) => new Panel(letter, policies, (choice) => void this.choose(at, choice)));
    this.charts = new Charts(charts);
  }

  get now(): number {
    return this.runs[0]?.now ?? 0;
  }

  get duration(): number {
    return this.runs[0]?.scenario.duration ?? 0;
  }

  /** Open a preset with these overrides, and go to an instant. */
  open(preset: Preset, sets: string[][], now: number): Promise<void> {
    return this.do(async () => {
      const runs = await this.opened(preset, sets);
      await Promise.all(this.runs.map((run) => run.close()));
      [this.preset, this.sets, this.runs] = [preset, sets, runs];
      this.place.replaceChildren(...runs.flatMap((_, at) => this.panels[at]?.root ?? []));
      runs.forEach((run, at) => this.panels[at]?.open(run));
      await Promise.all(runs.map((run) => run.go(now)));
      this.charts.open(runs);
      this.told(runs.flatMap(({ warnings }) => warnings)[0] ?? "");
    });
  }

  /** Go to an instant, forward or back. */
  go(to: number): Promise<void> {
    return this.do(async () => {
      await Promise.all(this.runs.map((run) => run.go(to)));
    });
  }

  /** Go to the next event of a kind in either run. */
  next(event: EventName): Promise<void> {
    return this.do(async () => {
      const from = this.now;
      await Promise.all(this.runs.map((run) => run.next(event)));
      const first = Math.min(...this.runs.map((run) => run.now));
      if (first >= this.duration) this.told(`no ${event} follows before the end of the run`);
      if (this.runs.some((run) => run.now !== first)) {
        await Promise.all(this.runs.map((run) => run.go(from)));
        await Promise.all(this.runs.map((run) => run.go(first)));
      }
    });
  }

  /** Go to where the two runs first differ. */
  firstDifference(): Promise<void> {
    return this.do(async () => {
      const [a, b] = this.runs;
      if (!a || !b) return;
      const { difference } = await this.client.difference(a.handle, b.handle);
      if (!difference) {
        this.told("The two runs do not differ at this port.");
        return;
      }
      await Promise.all(this.runs.map((run) => run.go(difference.time)));
      await Promise.all(this.runs.map((run) => run.go(difference.time + 1)));
      const words = difference.records.map((record, at) => {
        const [run, other] = [this.runs[at], difference.records[1 - at]];
        if (!record || !run) return `${"AB"[at]}: nothing more`;
        if (record.what <= LEAVES && other && other.what > LEAVES) return `${"AB"[at]} keeps it`;
        return `${"AB"[at]}: ${run.flowName(record.circuit)}, frame ${record.frame}, unit ${record.index} ${run.word(record.what)}`;
      });
      this.told(`First difference at ${instant(difference.time)}. ${words.join("; ")}.`);
    });
  }

  /** The colours of the page have changed. */
  restyle(): void {
    this.charts.open(this.runs);
    this.redraw();
  }

  redraw(): void {
    this.runs.forEach((run, at) => this.panels[at]?.draw(run));
    this.chart();
    this.drawn();
  }

  /** Charts change slowly: ten times in a second suffice, but the last picture is always in them. */
  private chart(): void {
    clearTimeout(this.later);
    const wait = this.charted + 100 - performance.now();
    if (wait > 0) {
      this.later = setTimeout(() => this.chart(), wait);
      return;
    }
    this.charted = performance.now();
    this.charts.draw(this.now);
  }

  private async opened(preset: Preset, sets: string[][]): Promise<Run[]> {
    const runs: Run[] = [];
    try {
      for (const own of sets) runs.push(await this.openOne(preset, own));
    } catch (why) {
      await Promise.all(runs.map((run) => run.close()));
      throw why;
    }
    return runs;
  }

  private openOne(preset: Preset, own: string[]): Promise<Run> {
    const [seed] = own.filter((set) => set.startsWith("seed=")).map((set) => Number(set.slice(5)));
    const sets = own.filter((set) => !set.startsWith("seed="));
    return Run.open(this.client, { text: preset.text, name: preset.file, sets, ...(seed === undefined ? {} : { seed }) });
  }

  /** Another policy for one run: the same seed from the start, up to the same instant. */
  private choose(at: number, choice: Choice): Promise<void> {
    const port = this.runs[at]?.port.name;
    if (port === undefined || !this.preset) return Promise.resolve();
    const others = (this.sets[at] ?? []).filter((set) => !set.startsWith(`port.${port}.admission`));
    const sets = this.sets.map((own, index) => (index === at ? [...others, override(port, choice)] : own));
    return this.open(this.preset, sets, this.now);
  }

  /** One thing after another; what goes wrong is a message, and the page goes on. */
  private do(work: () => Promise<void>): Promise<void> {
    this.chain = this.chain.then(async () => {
      try {
        await work();
        this.redraw();
      } catch (why) {
        this.told(why instanceof Error ? why.message : String(why), true);
        this.runs.forEach((run, at) => this.panels[at]?.open(run));
      }
    });
    return this.chain;
  }
}
