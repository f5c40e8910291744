// The two runs, one clock: opening, going on, going back, comparing.

import { Charts } from "./charts";
import type { Client, Engines } from "./client";
import { Curve } from "./curve";
import { type Choice, KINDS, NEEDS_CODE, PROGRAM, type Refusals, override, withParameters } from "./form";
import { inks, renewInks } from "./ink";
import { Panel } from "./panel";
import type { Shot } from "./picture";
import { type Preset, asked, isAsGiven, labelled } from "./presets";
import { lossOf } from "./protocol";
import type { Decision, Difference, Entry, EventName, ScenarioText } from "./protocol";
import { Run } from "./run";
import { Whole, askedFigure, figureOf, figures, winner, written } from "./score";
import { Swipe } from "./swipe";
import { Cancelled, Task, TooLong } from "./task";
import { type Search, refused, search, without } from "./why";
import { instant, picoseconds } from "./words";

/** How a task has ended; `TooLong` if it must be asked about first. */
export type Outcome = "done" | "failed" | "cancelled" | TooLong;

/** What the page does for the lab. */
export interface Hooks {
  told(message: string, wrong?: boolean): void;
  drawn(): void;
  /** Stop playing: what follows is about this instant. */
  rests(): void;
  /** This task works now; nothing does any more. */
  works(task: Task | undefined): void;
}

export interface Places {
  which: HTMLElement;
  runs: HTMLElement;
  charts: HTMLElement;
  curve: HTMLCanvasElement;
  details: HTMLDetailsElement;
  moreRuns: HTMLElement;
  moreCharts: HTMLElement;
}

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
  /** Simulated picoseconds that the main charts show. */
  shown = 1e12;
  private readonly panels: Panel[];
  private readonly charts: Charts;
  private readonly moreCharts: Charts;
  private readonly curve: Curve;
  private readonly swipe: Swipe;
  private engine: Client | undefined;
  private whole: Whole | undefined;
  /** Answers what is asked beside the runs. */
  private helper: Client | undefined;
  private task: Task | undefined;
  private running: Promise<unknown> = Promise.resolve();
  private charted = 0;
  private later: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly engines: Engines,
    private readonly entries: Entry[],
    private readonly places: Places,
    private readonly hooks: Hooks,
  ) {
    this.panels = ["A", "B"].map(
      (letter, at) => new Panel(letter, entries, (choice) => void this.choose(at, choice), (port) => void this.look(port), {
          why: (earlier) => void this.why(at, earlier),
          whatIf: (decision) => void this.whatIf(at, decision),
        }),
    );
    this.charts = new Charts(places.charts, true);
    this.moreCharts = new Charts(places.moreCharts, false);
    this.curve = new Curve(places.curve);
    this.swipe = new Swipe(places.which, places.runs);
    places.details.addEventListener("toggle", () => {
      for (const panel of this.panels) panel.isOpen = places.details.open;
      this.redraw();
      void this.offer();
    });
  }

  get now(): number {
    return this.runs[0]?.now ?? 0;
  }

  /** The end of the longer run. */
  get duration(): number {
    return Math.max(0, ...this.runs.map(({ scenario }) => scenario.duration));
  }

  /** Whether no buffer of the network has anything, in no run. */
  get isEmpty(): boolean {
    return this.runs.every(({ picture }) => picture?.occupancies.every((used) => used === 0) ?? false);
  }

  /** Losses, marks and pauses so far: it changes when something happens that is worth a look. */
  get events(): number {
    const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
    return sum(this.runs.map(({ picture }) => (picture ? sum(picture.lost) + sum(picture.marked) + picture.paused.filter(Boolean).length : 0)));
  }

  /**
   * Open a preset with these overrides, look at a port, and go to an instant, with a new engine: what another one does is
   * thrown away. With `asks` long work is refused.
   */
  open(preset: Preset, sets: string[][], now: number, port = preset.port, asks = false): Promise<Outcome> {
    this.hooks.rests(); // the next step of what plays would cancel this
    const engine = this.engines.start();
    return this.do("Opening the runs", asks, async (task) => {
      task.onCancel(() => engine.stop());
      try {
        const runs: Run[] = [];
        for (const own of sets) runs.push(await task.within(Run.open(engine, asked(preset, own), port)));
        await this.advance(task, runs, Math.min(now, Math.max(...runs.map(({ scenario }) => scenario.duration))));
        task.check();
        this.adopt(engine, runs, preset, sets, port);
      } catch (why) {
        engine.stop();
        throw why;
      }
    }, false);
  }

  /** Show these runs, and forget the others. */
  private adopt(engine: Client, runs: Run[], preset: Preset, sets: string[][], port: string | undefined): void {
    this.engine?.stop();
    this.helper?.stop();
    this.helper = undefined;
    [this.engine, this.preset, this.sets, this.runs, this.port] = [engine, preset, sets, runs, port];
    const panels = this.panels.slice(0, runs.length);
    this.places.runs.replaceChildren(...panels.map(({ root }) => root));
    this.swipe.open(runs.map((_, at) => this.label(at)));
    this.places.moreRuns.replaceChildren(...panels.map(({ more }) => more));
    runs.forEach((run, at) => this.panels[at]?.open(run, this.label(at), preset.score));
    this.charts.open(runs);
    this.moreCharts.open(runs);
    this.hooks.told("");
    this.score(runs);
    void this.offer();
  }

  /** Let another engine run both scenarios to their ends, for the score. */
  private score(runs: Run[]): void {
    this.whole?.stop();
    const whole = new Whole(this.engines.start());
    this.whole = whole;
    const show = () => this.showScore();
    show();
    whole.run(runs, show).catch((why: unknown) => {
      if (!(why instanceof Cancelled)) this.hooks.told(`the whole run has no score: ${message(why)}`, true);
    });
  }

  /** What a run does, in a few words: those of the preset, or its policy if the reader has chosen another one. */
  label(at: number): string {
    const { preset, runs } = this;
    const run = runs[at];
    if (!preset || !run) return "";
    const lacks = refused(this.sets[at]);
    if (lacks !== undefined) return lacks;
    return labelled(preset, at, this.sets[at]) ?? policyName(run.scenario);
  }

  /** Go to an instant, forward or back. */
  go(to: number): Promise<Outcome> {
    return this.do("Going there", false, (task) => this.advance(task, this.runs, to));
  }

  /** Go to the next event of a kind in either run. */
  next(event: EventName): Promise<Outcome> {
    return this.do(`Looking for ${WORDS[event]}`, false, async (task) => {
      let first = Infinity;
      await task.slices(this.now, this.duration, async (until) => {
        first = await this.found(event, until);
        return first < Infinity;
      });
      if (first < Infinity) await this.advance(task, this.runs, first);
      else this.hooks.told(`${WORDS[event]} does not follow before the end of the run`);
    });
  }

  /** The first event of a kind in either run up to an instant: the other run must have been searched up to it as well. */
  private async found(event: EventName, until: number): Promise<number> {
    const all = await Promise.all(this.runs.map((run) => run.when(event, until)));
    const first = Math.min(...all.map(({ time }) => time ?? Infinity));
    const isSeen = all.every(({ time, seen }, at) => time !== null || seen >= Math.min(first, this.runs[at]?.scenario.duration ?? 0));
    return first === Infinity || isSeen ? first : this.found(event, first);
  }

  /** Look at another port, at the same instant. */
  look(port: string): Promise<Outcome> {
    return this.preset ? this.open(this.preset, this.sets, this.now, port) : Promise.resolve("done");
  }

  /** Go to `before` picoseconds before the two runs first differ; stay if they do not. */
  approach(before: number): Promise<Outcome> {
    return this.do("Looking for the first difference", false, async (task) => {
      const difference = await this.differing(task);
      if (difference) await this.advance(task, this.runs, Math.max(0, difference.time - before));
    });
  }

  /** Search for the first difference of the two runs. */
  private async differing(task: Task): Promise<Difference["difference"]> {
    const [[a, b], engine] = [this.runs, this.engine];
    if (!a || !b || !engine) return null;
    let found = await engine.difference(a.handle, b.handle, 1);
    await task.slices(1, this.duration, async (until) => {
      found = await engine.difference(a.handle, b.handle, until);
      return found.difference !== null;
    });
    return found.difference;
  }

  /** Go to where the two runs first differ. */
  firstDifference(): Promise<Outcome> {
    return this.do("Looking for the first difference", false, async (task) => {
      const difference = await this.differing(task);
      if (!difference) {
        this.hooks.told("The two runs do not differ at this port.");
        return;
      }
      await this.advance(task, this.runs, difference.time);
      await this.advance(task, this.runs, difference.time + 1);
      const words = difference.records.map((record, at) => {
        const [run, other] = [this.runs[at], difference.records[1 - at]];
        if (!record || !run) return `${"AB"[at]}: nothing more`;
        if (lossOf(record) === undefined && other && lossOf(other) !== undefined) return `${"AB"[at]} keeps it`;
        return `${"AB"[at]}: ${run.flowName(record.circuit)}, frame ${record.frame + 1}, unit ${record.index} ${run.word(record)}`;
      });
      this.hooks.told(`First difference at ${instant(difference.time)}. ${words.join("; ")}.`);
    });
  }

  /** Let the engine try the decisions before the loss of the frame that is followed, from where an earlier search has ended. */
  private why(at: number, earlier?: Search): Promise<Outcome> {
    const [run, sets] = [this.runs[at], this.sets[at] ?? []];
    const scenario = this.sibling(at, [...sets, "warmup=0 s"]); // losses before the end of the warm-up count as well
    const followed = run?.followed;
    if (!run || !scenario || !followed) return Promise.resolve("done");
    const question = { at: [run.port.name], flow: followed.flow, frame: followed.frame + 1, sets: 0 };
    const show = (found: Search) => this.panels[at]?.answer(run, found);
    return this.aside("Trying decisions before the loss", (task, engine) => search((part) => engine.why(scenario, part), question, task, earlier, show));
  }

  /** Do long work with an engine of its own while the runs rest. */
  aside(what: string, work: (task: Task, engine: Client) => Promise<void>): Promise<Outcome> {
    this.hooks.rests();
    return this.do(what, false, async (task) => {
      const engine = this.engines.start();
      task.onCancel(() => engine.stop());
      try {
        await work(task, engine);
      } finally {
        engine.stop();
      }
    });
  }

  /** Show a run and, as B, what it would have been without a frame that its port accepted. */
  private whatIf(at: number, decision: Decision): Promise<Outcome> {
    const [run, own, preset] = [this.runs[at], this.sets[at] ?? [], this.preset];
    if (!run || !preset) return Promise.resolve("done");
    const other = without(decision, run.port.name, run.scenario.losses, own);
    return this.open(preset, [own, other], picoseconds(decision.time_s) - 1, this.port);
  }

  /** Stop what works now. */
  cancel(): void {
    this.task?.cancel();
  }

  /** What is on the screen, for a picture. */
  shot(title: string, commands: string[]): Shot {
    const facts = this.runs.map((run, at) => [this.panels[at]?.said(run) ?? "", ...(this.panels[at]?.scored ?? [])]);
    const motions = this.runs.map(({ motion }) => motion);
    const now = this.now;
    const labels = this.runs.map((_, at) => this.label(at));
    return { title, runs: this.runs, labels, motions, facts, commands, inks: inks(), now };
  }

  /** The colours of the page have changed. */
  restyle(onPaper = false): void {
    renewInks(onPaper);
    this.charted = -Infinity;
    this.charts.open(this.runs);
    this.moreCharts.open(this.runs);
    this.redraw();
  }

  redraw(): void {
    this.runs.forEach((run, at) => this.panels[at]?.draw(run, !this.playing));
    this.chart();
    this.hooks.drawn();
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
    this.charts.draw(this.now, this.shown, !this.playing);
    this.moreCharts.draw(this.now, this.shown, !this.playing);
    this.curve.draw(this.runs, this.now, this.duration);
    this.showScore();
  }

  /** Write the score of each run, and on a narrow screen the figure that the question asks for where both are in view. */
  private showScore(): void {
    const [{ preset, runs }, documents] = [this, this.whole?.documents ?? []];
    const outcome = preset && isAsGiven(preset, this.sets) ? preset.outcome : undefined;
    this.panels.forEach((panel) => panel.score(runs, documents, (figure) => winner(figure, outcome)));
    const figure = preset && (askedFigure(preset) ?? figures(preset.score)[0]);
    this.swipe.score(
      runs.map(({ port }, at) => {
        const document = documents[at];
        const value = figure && document && figureOf(document, figure.path, port.name);
        return figure && value !== undefined ? `${figure.label} ${written(figure.unit, value, port.measure)}` : "";
      }),
    );
  }

  /** All runs go to an instant, a long way in parts. */
  private async advance(task: Task, runs: Run[], to: number): Promise<void> {
    const all = async (until: number) => void (await Promise.all(runs.map((run) => run.go(until, this.moves))));
    const from = Math.max(0, ...runs.map(({ now }) => now));
    if (to > from) await task.slices(from, to, async (until) => (await all(until), false));
    else await all(to);
  }

  /** A scenario that differs from a run in these overrides. */
  private sibling(at: number, sets: string[]): ScenarioText | undefined {
    return this.preset && this.runs[at] && asked(this.preset, sets);
  }

  /** Another policy for one run: the same seed from the start, up to the same instant. */
  private choose(at: number, choice: Choice): Promise<Outcome> {
    if (!this.preset || !this.runs[at]) return Promise.resolve("done");
    const sets = this.sets.map((own, index) => (index === at ? this.chosen(at, own, choice) : own));
    return this.open(this.preset, sets, this.now, this.port);
  }

  /** Overrides with a choice in the place of those that it replaces: a discipline stands for all other policies of a port. */
  private chosen(at: number, own: string[], choice: Choice): string[] {
    const kinds = choice.kind === "discipline" ? Object.keys(KINDS) : [choice.kind, "discipline"];
    const keys = kinds.map((kind) => `${this.holder(at, kind)}.${kind}`);
    const others = own.filter((set) => !keys.some((key) => set.startsWith(key) && /^[.=]/.test(set.slice(key.length))));
    if (choice.policy === PROGRAM) return [...others, ...withParameters(own, this.program(at, choice.kind, own), choice)];
    return choice.policy === "" ? others : [...others, override(`${this.holder(at, choice.kind)}.${choice.kind}`, choice)];
  }

  /** The override by which a place has a policy in Python, in this run or in the other one. */
  private program(at: number, kind: string, own: string[] = []): string | undefined {
    const here = `${this.holder(at, kind)}.${kind}=`;
    const known = [...own, ...(this.preset?.programs?.map(({ set }) => set) ?? [])].filter((set) => /policy"? *= *"program"/.test(set));
    const there = known.find((set) => set.slice(0, set.indexOf("=")).endsWith(`.${kind}`));
    return known.find((set) => set.startsWith(here)) ?? (there && here + there.slice(there.indexOf("=") + 1));
  }

  /** The section that has the policies of a kind: a memory decides about admission for its ports. */
  private holder(at: number, kind: string): string {
    const { scenario, port } = this.runs[at] ?? {};
    return scenario?.memory && kind === "admission" ? `memory.${scenario.memory.section}` : `port.${port?.name}`;
  }

  /** Learn from the engine which policies each place takes, while they can be chosen. */
  private async offer(): Promise<void> {
    if (!this.places.details.open || this.runs.length === 0) return;
    const { runs } = this;
    this.helper ??= this.engines.start();
    const helper = this.helper;
    try {
      for (const at of runs.keys()) {
        for (const kind of Object.keys(KINDS)) {
          const refusals = await this.refusals(helper, at, kind);
          if (this.runs === runs) this.panels[at]?.offer(kind, refusals);
        }
      }
    } catch (why) {
      if (!(why instanceof Cancelled)) this.hooks.told(message(why), true);
    }
  }

  private async refusals(helper: Client, at: number, kind: string): Promise<Refusals> {
    const refusals = new Map<string, string>();
    for (const { name } of this.entries.filter((entry) => entry.kind === kind)) {
      const scenario = this.sibling(at, this.chosen(at, this.sets[at] ?? [], { kind, policy: name, values: {} }));
      if (name === PROGRAM && this.program(at, kind, this.sets[at]) === undefined) refusals.set(name, NEEDS_CODE);
      else if (scenario) await helper.toml(scenario).catch((why: unknown) => {
        if (why instanceof Cancelled) throw why;
        refusals.set(name, message(why));
      });
    }
    return refusals;
  }

  /**
   * Do one thing, and let the newest choice win: what worked before is cancelled. What goes wrong is a message, and the page
   * goes on. With `waits` the runs are left in order first.
   */
  private do(what: string, asks: boolean, work: (task: Task) => Promise<void>, waits = true): Promise<Outcome> {
    this.task?.cancel();
    const before = this.running;
    const task = new Task(what, asks);
    this.task = task;
    this.hooks.works(task);
    const running = (async (): Promise<Outcome> => {
      if (waits) await before;
      const outcome = await this.attempt(task, work);
      if (this.task === task) {
        this.task = undefined;
        this.hooks.works(undefined);
      }
      return outcome;
    })();
    this.running = running;
    return running;
  }

  private async attempt(task: Task, work: (task: Task) => Promise<void>): Promise<Outcome> {
    try {
      task.check();
      await work(task);
      this.redraw();
      return "done";
    } catch (why) {
      if (this.task === task) this.redraw();
      if (why instanceof TooLong) return why;
      if (why instanceof Cancelled) return "cancelled";
      this.hooks.told(message(why), true);
      this.runs.forEach((run, at) => this.panels[at]?.open(run, this.label(at), this.preset?.score));
      return "failed";
    }
  }
}

/** The policy of a run in a word: a program has a name of its own. */
function policyName({ policies: { admission, discipline } }: Run["scenario"]): string {
  if (typeof discipline === "string") return discipline;
  return admission.policy === PROGRAM ? String(admission["name"] ?? PROGRAM) : admission.policy;
}

function message(why: unknown): string {
  return why instanceof Error ? why.message : String(why);
}

const WORDS: Record<EventName, string> = {
  unit: "the next unit",
  frame: "the next frame",
  drop: "the next loss",
  mark: "the next mark",
  "round-trip": "the next round trip",
};
