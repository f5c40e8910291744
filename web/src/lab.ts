// The two runs, one clock: opening, going on, going back, comparing.

import { Charts } from "./charts";
import type { Client } from "./client";
import { type Choice, override } from "./form";
import { inks } from "./ink";
import { Panel } from "./panel";
import type { Shot } from "./picture";
import type { Preset } from "./presets";
import { lossOf } from "./protocol";
import type { Entry, EventName } from "./protocol";
import { Run } from "./run";
import { instant } from "./words";

export class Lab {
  runs: Run[] = [];
  preset: Preset | undefined;
  sets: string[][] = [];
  /** The port in view, if it is not the one that the engine would choose. */
  port: string | undefined;
  /** Whether units move between two pictures. */
  moves = true;
  /** Whether another picture follows at once. */
  playing = false;
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
    this.panels = ["A", "B"].map((letter, at) => new Panel(letter, policies, (choice) => void this.choose(at, choice), (port) => void this.look(port)));
    this.charts = new Charts(charts);
  }

  get now(): number {
    return this.runs[0]?.now ?? 0;
  }

  get duration(): number {
    return this.runs[0]?.scenario.duration ?? 0;
  }

  /** Open a preset with these overrides, look at a port, and go to an instant. */
  open(preset: Preset, sets: string[][], now: number, port = preset.port): Promise<void> {
    return this.do(async () => {
      const runs = await this.opened(preset, sets, port);
      await Promise.all(this.runs.map((run) => run.close()));
      [this.preset, this.sets, this.runs, this.port] = [preset, sets, runs, port];
      this.place.replaceChildren(...runs.flatMap((_, at) => this.panels[at]?.root ?? []));
      runs.forEach((run, at) => this.panels[at]?.open(run));
      await this.all(now);
      this.charts.open(runs);
      this.told(runs.flatMap(({ warnings }) => warnings)[0] ?? "");
    });
  }

  /** Go to an instant, forward or back. */
  go(to: number): Promise<void> {
    return this.do(() => this.all(to));
  }

  /** Go to the next event of a kind in either run. */
  next(event: EventName): Promise<void> {
    return this.do(async () => {
      const times = await Promise.all(this.runs.map((run) => run.when(event)));
      const first = Math.min(...times.map((time) => time ?? Infinity));
      if (first < Infinity) await this.all(first);
      else this.told(NONE[event]);
    });
  }

  /** Look at another port, at the same instant. */
  look(port: string): Promise<void> {
    return this.preset ? this.open(this.preset, this.sets, this.now, port) : Promise.resolve();
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
      await this.all(difference.time);
      await this.all(difference.time + 1);
      const words = difference.records.map((record, at) => {
        const [run, other] = [this.runs[at], difference.records[1 - at]];
        if (!record || !run) return `${"AB"[at]}: nothing more`;
        if (lossOf(record) === undefined && other && lossOf(other) !== undefined) return `${"AB"[at]} keeps it`;
        return `${"AB"[at]}: ${run.flowName(record.circuit)}, frame ${record.frame}, unit ${record.index} ${run.word(record)}`;
      });
      this.told(`First difference at ${instant(difference.time)}. ${words.join("; ")}.`);
    });
  }

  /** What is on the screen, for a picture. */
  shot(title: string, commands: string[]): Shot {
    const facts = this.runs.map((run, at) => this.panels[at]?.said(run) ?? "");
    const motions = this.runs.map(({ motion }) => motion);
    const now = this.now;
    return { title, runs: this.runs, motions, facts, commands, inks: inks(this.place), now };
  }

  /** The colours of the page have changed. */
  restyle(): void {
    this.charts.open(this.runs);
    this.redraw();
  }

  redraw(): void {
    this.runs.forEach((run, at) => this.panels[at]?.draw(run, !this.playing));
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

  private async all(to: number): Promise<void> {
    await Promise.all(this.runs.map((run) => run.go(to, this.moves)));
  }

  private async opened(preset: Preset, sets: string[][], port: string | undefined): Promise<Run[]> {
    const runs: Run[] = [];
    try {
      for (const own of sets) runs.push(await this.openOne(preset, own, port));
    } catch (why) {
      await Promise.all(runs.map((run) => run.close()));
      throw why;
    }
    return runs;
  }

  private openOne(preset: Preset, own: string[], port: string | undefined): Promise<Run> {
    const [seed] = own.filter((set) => set.startsWith("seed=")).map((set) => Number(set.slice(5)));
    const sets = own.filter((set) => !set.startsWith("seed="));
    const asked = { text: preset.text, name: preset.file, sets, ...(seed === undefined ? {} : { seed }) };
    return Run.open(this.client, asked, port);
  }

  /** Another policy for one run: the same seed from the start, up to the same instant. */
  private choose(at: number, choice: Choice): Promise<void> {
    const run = this.runs[at];
    if (!run || !this.preset) return Promise.resolve();
    const { memory } = run.scenario;
    const key = memory ? `memory.${memory.section}.admission` : `port.${run.port.name}.admission`;
    const others = (this.sets[at] ?? []).filter((set) => !set.startsWith(key));
    const sets = this.sets.map((own, index) => (index === at ? [...others, override(key, choice)] : own));
    return this.open(this.preset, sets, this.now, this.port);
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

const NONE: Record<EventName, string> = {
  unit: "no unit leaves before the end of the run",
  frame: "no frame ends before the end of the run",
  drop: "no loss follows before the end of the run",
  mark: "no mark follows before the end of the run",
  "round-trip": "no flow waits for an acknowledgement that comes before the end of the run",
};
