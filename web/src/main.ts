// The page: buttons, keys, the clock.

import { type Client, Engines } from "./client";
import { unpacked } from "./engine";
import { command } from "./files";
import { Handout } from "./handout";
import { Lab, type Outcome } from "./lab";
import { printLecture } from "./lecture";
import { fromLink, toLink } from "./link";
import { Pace, paceOf } from "./pace";
import { bring } from "./bring";
import { at, content } from "./place";
import { carried, seen, countered, isAsGiven, type Preset, presets } from "./presets";
import { counterRun, lesson, outcome, sentence } from "./sentence";
import { NOTICE, type Task, TooLong } from "./task";
import { cut, instant, picoseconds, seconds, span } from "./words";

const still = matchMedia("(prefers-reduced-motion: reduce)");
/** Where nothing moves, Play goes this part of a second of watching. */
const STEPS = 2;
/** Seconds of watching that the main charts show. */
const WATCHED = 12;
/** The longest text of a scenario that the address carries. */
const CARRIED_AT_MOST = 30_000;
/** The longest text of a scenario that is opened. */
const TEXT_AT_MOST = 1_000_000;
/** The longest message. */
const LETTERS = 400;

/** What a link shows of a preset. */
interface View {
  sets: string[][];
  now: number;
  port: string | undefined;
}

class Page {
  private readonly lab: Lab;
  private readonly offers = presets();
  private readonly handout: Handout;
  private readonly pace = new Pace();
  private playing = false;
  private announced = 0;
  /** How often the reader or a link has chosen a scenario. */
  private chosen = 0;
  private notice: ReturnType<typeof setInterval> | undefined;

  constructor(engines: Engines, entries: Awaited<ReturnType<Client["policies"]>>) {
    const places = {
      which: at("which"),
      runs: at("runs"),
      charts: at("charts"),
      curve: at<HTMLCanvasElement>("curve"),
      details: at<HTMLDetailsElement>("more"),
      moreRuns: at("more-runs"),
      moreCharts: at("more-charts"),
    };
    const told = (text: string, wrong?: boolean) => this.tell(text, wrong);
    this.lab = new Lab(engines, entries, places, { told, drawn: () => this.shown(), rests: () => this.play(false), works: (task) => this.works(task) });
    this.handout = new Handout(this.lab, told);
    this.buttons();
    bring((file, text) => void this.bring(file, text));
    this.keys();
    for (const { name, title, lesson } of this.offers) at(lesson ? "lecture" : "experiments").append(new Option(title, name));
    addEventListener("resize", () => this.lab.redraw());
    addEventListener("hashchange", () => void this.follow());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.lab.restyle());
    addEventListener("beforeprint", () => this.lab.restyle(true));
    addEventListener("afterprint", () => this.lab.restyle());
    void this.follow();
  }

  /** Show what the address names. */
  private async follow(): Promise<void> {
    delete document.documentElement.dataset["ready"];
    this.chosen += 1;
    const link = fromLink(location.hash);
    const shown = typeof link === "object" ? link : undefined;
    const known = this.offers.find(({ name, also, lesson }) => name === shown?.preset || (!lesson && also?.includes(shown?.preset ?? "")));
    const named = shown?.text === undefined ? known : this.offered(shown.preset, shown.text, shown.sets ?? [[]]);
    const isNewest = this.isNewest();
    if (shown && named) await this.open(named, shown.sets && { sets: shown.sets, now: shown.now ?? 0, port: shown.port });
    if (this.lab.runs.length === 0 && at("ask").hidden && isNewest()) {
      const why = at("message").textContent ?? "";
      await this.first();
      if (named && isNewest()) this.tell(`the link cannot be shown: ${why}`, true);
    }
    if (typeof link === "string") this.tell(link, true);
    else if (link && !named) this.tell(`this page has no scenario ${cut(link.preset, 60)}`, true);
    document.documentElement.dataset["ready"] = "true";
  }

  /** Whether no other scenario has been chosen since, by the reader or by a link. */
  private isNewest(): () => boolean {
    const before = this.chosen;
    return () => this.chosen === before;
  }

  /** Offer a scenario that a link carries, once. */
  private offered(name: string, text: string, sets: string[][], file = name): Preset {
    const same = this.offers.find((each) => each.text === text && each.isCarried);
    if (same) return same;
    const isTaken = (name: string) => this.offers.some((each) => each.name === name);
    let own = name;
    for (let number = 2; isTaken(own); number += 1) own = `${name} ${number}`;
    const preset = carried(own, text, sets, file);
    this.offers.push(preset);
    at("experiments").append(new Option(preset.title, preset.name));
    return preset;
  }

  /** Open what the reader has chosen. */
  private choose(preset: Preset): Promise<void> {
    this.chosen += 1;
    return this.open(preset);
  }

  /** Open the text of a scenario as the reader has it: a file that was dropped or chosen, or what was pasted. */
  private async bring(file: string, text: string): Promise<void> {
    if (text.length > TEXT_AT_MOST) return this.tell(`a scenario must have at most ${TEXT_AT_MOST} letters, not ${text.length}`, true);
    await this.choose(this.offered(file.replace(/\.(toml|json)$/, ""), text, [[]], file));
  }

  private async first(): Promise<void> {
    const [preset] = this.offers;
    if (preset) await this.open(preset);
  }

  /** Open a preset and play it, or rest at what a link shows; long work of a link is asked about first unless it is allowed. */
  private async open(preset: Preset, view?: View, isAllowed = false): Promise<void> {
    this.play(false);
    at("ask").hidden = true;
    const { sets, now, port } = view ?? { sets: preset.runs, now: picoseconds(preset.from ?? 0), port: preset.port };
    const outcome = await this.lab.open(preset, sets, now, port, view !== undefined && !isAllowed);
    if (outcome instanceof TooLong) this.ask(outcome, () => void this.open(preset, view, true));
    if (outcome !== "done") return;
    this.describe(preset, sets);
    const [first] = this.lab.runs;
    this.setPace(preset.pace ?? (first ? paceOf(first.port) : 1e-3));
    const isNew = !view && preset.from === undefined && this.lab.runs.length > 1;
    if (!view && still.matches) await this.lab.go(picoseconds(seen(preset, this.pace.base))); // nothing moves: begin where something is seen
    else if (isNew && (await this.lab.approach(picoseconds(this.pace.base / 2))) !== "done") return;
    this.pace.rest(this.lab.events);
    if (!view && !preset.lesson && !still.matches) this.play(true);
  }

  private describe(preset: Preset, sets: string[][]): void {
    at<HTMLSelectElement>("preset").value = preset.name;
    this.explain(preset, sets, preset.lesson === undefined);
    this.counter(preset);
    at("printed").textContent = preset.printed ? `In print (study ${preset.printed.study}): ${preset.printed.text}` : "";
    lesson(at("lesson"), preset, () => {
      this.explain(preset, this.lab.sets, true);
      this.play(true);
    });
  }

  /** Say what the runs do and what many seeds say; a lesson does so after the guess. */
  private explain(preset: Preset, sets: string[][], isOpen: boolean): void {
    at("look").textContent = "";
    if (preset.isCarried && sets.length === 1) this.second(preset, sets);
    else if (isOpen) sentence(at("look"), preset, sets, (other) => void this.again(preset, other));
    at("outcome").textContent = isOpen && isAsGiven(preset, sets) ? outcome(preset, this.measure) : "";
  }

  /** Offer a second run of a scenario that has only one. */
  private second(preset: Preset, sets: string[][]): void {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Compare with another policy";
    button.onclick = async () => {
      await this.again(preset, [...sets, ...sets]);
      at<HTMLDetailsElement>("more").open = true;
      at("more").scrollIntoView();
    };
    at("look").append(button);
  }

  /** Say what becomes of the outcome without its cause, and show it at a click. */
  private counter(preset: Preset): void {
    at("counter").textContent = counterRun(preset, this.measure);
    if (!preset.counter) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Show these runs";
    button.onclick = () => void this.again(preset, countered(preset));
    at("counter").append(" ", button);
  }

  /** What the port in view counts its buffer in. */
  private get measure(): string {
    return this.lab.runs[0]?.port.measure ?? "";
  }

  /** Run B again with another value, up to the instant that is shown. */
  private async again(preset: Preset, sets: string[][]): Promise<void> {
    const wasPlaying = this.playing;
    this.play(false);
    const outcome = await this.lab.open(preset, sets, this.lab.now, this.lab.port);
    this.explain(preset, this.lab.sets, true);
    this.pace.rest(this.lab.events);
    if (outcome === "done" && wasPlaying) this.play(true);
  }

  /** Ask before long work. */
  private ask({ estimate }: TooLong, go: () => void): void {
    this.tell("");
    const time = estimate === undefined ? "more than 2 s" : `about ${Math.round(estimate / 1000)} s`;
    at("question").textContent = `This link needs ${time} of work before it can be shown. Is it to be done?`;
    at("ask").hidden = false;
    at("go").onclick = () => {
      at("ask").hidden = true;
      go();
    };
    at("leave").onclick = () => {
      at("ask").hidden = true;
      if (this.lab.runs.length === 0) void this.first();
    };
    at("go").focus();
  }

  /** Show that a task takes time, and let the reader cancel it. */
  private works(task: Task | undefined): void {
    clearInterval(this.notice);
    at("work").hidden = true;
    if (!task) return;
    this.notice = setInterval(() => {
      if (task.age < NOTICE) return;
      at("work").hidden = false;
      const { progress } = task;
      at("doing").textContent = `${task.what}${progress === undefined ? "" : `, ${Math.round(100 * progress)} %`}`;
      if (progress === undefined) at("progress").removeAttribute("value");
      else at<HTMLProgressElement>("progress").value = progress;
    }, 100);
  }

  private buttons(): void {
    at<HTMLSelectElement>("preset").onchange = ({ target }) => {
      const preset = this.offers.find(({ name }) => name === (target as HTMLSelectElement).value);
      if (preset) void this.choose(preset);
    };
    at("play").onclick = () => this.play(!this.playing);
    at("cancel").onclick = () => this.lab.cancel();
    const lessons = this.offers.filter(({ lesson }) => lesson !== undefined);
    at("print").onclick = () => void this.lab.aside("Preparing the lecture", (task, engine) => printLecture(lessons, task, engine));
    this.step("start", () => this.lab.go(0));
    this.step("back", () => this.lab.go(Math.max(0, this.lab.now - picoseconds(this.pace.base / 10))));
    this.step("unit", () => this.lab.next("unit"));
    this.step("frame", () => this.lab.next("frame"));
    this.step("drop", () => this.lab.next("drop"));
    this.step("mark", () => this.lab.next("mark"));
    this.step("trip", () => this.lab.next("round-trip"));
    this.step("difference", () => this.lab.firstDifference());
    at<HTMLInputElement>("time").onchange = ({ target }) => {
      const share = Number((target as HTMLInputElement).value) / 1000; // a picture sets the slider to its instant
      this.play(false);
      void this.lab.go(share * this.lab.duration);
    };
    at<HTMLInputElement>("pace").oninput = ({ target }) => this.setPace(10 ** Number((target as HTMLInputElement).value));
  }

  /** A button that goes elsewhere, for which the page stops playing. */
  private step(id: string, act: () => Promise<Outcome>): void {
    at(id).onclick = () => {
      this.play(false);
      this.tell("");
      void act();
    };
  }

  private keys(): void {
    const keys: Record<string, () => void> = {
      " ": () => this.play(!this.playing),
      ArrowLeft: () => at("back").click(),
      ArrowRight: () => at("unit").click(),
      f: () => at("frame").click(),
      d: () => at("drop").click(),
      m: () => at("mark").click(),
      r: () => at("trip").click(),
      x: () => at("difference").click(),
      "[": () => this.setPace(this.pace.base / 2),
      "]": () => this.setPace(this.pace.base * 2),
      Escape: () => this.lab.cancel(),
      "?": () => {
        at<HTMLDetailsElement>("more").open = true;
        at<HTMLDetailsElement>("keys").toggleAttribute("open");
      },
    };
    document.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || uses(event.target, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  private play(on: boolean): void {
    const wasPlaying = this.playing;
    this.playing = on && !still.matches;
    this.lab.playing = this.playing;
    if (on && still.matches) void this.lab.go(this.lab.now + picoseconds(this.pace.base / STEPS)); // motion is not wanted: a step instead
    at("play").textContent = this.playing ? "Pause" : "Play";
    if (this.playing && !wasPlaying) void this.run();
    else if (!this.playing) this.lab.redraw();
  }

  private async run(): Promise<void> {
    const isAtEnd = this.lab.now >= this.lab.duration;
    if (isAtEnd) await this.lab.go(picoseconds(this.lab.preset?.from ?? 0)); // from the beginning again
    let before = performance.now();
    while (this.playing && this.lab.now < this.lab.duration) {
      const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      const passed = Math.min(0.1, Math.max(0, now - before) / 1000);
      before = now;
      if (!this.playing) return;
      await this.lab.go(this.lab.now + picoseconds(passed * this.pace.at(now, this.lab.isEmpty)));
      this.pace.see(this.lab.events, performance.now());
    }
    if (!this.playing) return;
    this.play(false);
    this.tell("The run has ended. Play starts it again.");
  }

  private setPace(pace: number): void {
    this.pace.base = Math.min(1, Math.max(1e-6, pace));
    this.lab.shown = picoseconds(this.pace.base * WATCHED);
    const words = `${span(picoseconds(this.pace.base))} per second`;
    at<HTMLInputElement>("pace").value = String(Math.log10(this.pace.base));
    at("pace").setAttribute("aria-valuetext", words);
    at("speed").textContent = words;
    if (!this.playing) this.lab.redraw();
  }

  /** A picture has been drawn: say when it is, and keep the address of what is shown. */
  private shown(): void {
    const { now, duration, preset, runs, sets, port } = this.lab;
    this.lab.moves = !still.matches;
    at("now").textContent = instant(now);
    if (!at("time").matches(":active")) at<HTMLInputElement>("time").value = String((1000 * now) / Math.max(1, duration));
    at("slow").hidden = !(this.playing && this.pace.isSlow(performance.now()));
    this.announce();
    if (!preset || this.playing) return;
    at("time").setAttribute("aria-valuetext", `${seconds(now).toFixed(6)} s of ${seconds(duration)} s`);
    at("difference").toggleAttribute("disabled", runs.length < 2);
    this.handout.table();
    const text = preset.isCarried && preset.text.length <= CARRIED_AT_MOST ? { text: preset.text } : {};
    history.replaceState(null, "", toLink({ preset: preset.name, sets, now, ...(port === undefined ? {} : { port }), ...text }));
    at("command").textContent = sets.map((own) => command(preset, own)).join("\n");
  }

  /** For those who do not see the strips: how things stand, once in two seconds at most. */
  private announce(): void {
    const now = performance.now();
    if (now < this.announced + 2000) return;
    this.announced = now;
    const lost = (run: Lab["runs"][number]) => run.picture?.lost.reduce((sum, many) => sum + many, 0) ?? 0;
    const said = this.lab.runs.map((run, index) => `${"AB"[index]}: ${run.picture?.occupancy ?? 0} ${run.port.measure} in the buffer, ${lost(run)} lost`);
    at("news").textContent = said.join("; ");
  }

  private tell(text: string, wrong = false): void {
    at("message").textContent = cut(text, LETTERS);
    at("message").classList.toggle("wrong", wrong);
  }
}

/** Whether an element needs this key itself: a field all of them, a button the two that press it. */
function uses(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("input, select")) return true;
  return target.matches("button, summary") && (key === " " || key === "Enter");
}

async function main(): Promise<void> {
  try {
    const module = await WebAssembly.compile(await unpacked(content("engine")));
    const engines = new Engines(JSON.parse(content("worker")) as string, module);
    const client = engines.start();
    const entries = await client.policies();
    client.stop();
    new Page(engines, entries);
  } catch (why) {
    at("message").textContent = `This browser cannot run the simulator: ${why instanceof Error ? why.message : String(why)}`;
    at("message").classList.add("wrong");
  }
}

void main();
