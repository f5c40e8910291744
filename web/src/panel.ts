// One run on the page: what it does, its network, its buffer, its score; and in the drawer its policies, counts and losses.

import { type Choice, KINDS, PolicyForm, type Refusals } from "./form";
import { colour } from "./flow";
import { inks } from "./ink";
import { CanvasPen } from "./pen";
import { Ports } from "./ports";
import type { Decision, Entry, Frame, Picture } from "./protocol";
import type { Drop, Run } from "./run";
import { type Document, type Figure, figureOf, figures, written } from "./score";
import { goodputs } from "./series";
import { Sketch } from "./sketch";
import { Strip, unitAt } from "./strip";
import { type Search, answer, framesOf as framesThatSave } from "./why";
import { count, instant, rate, span } from "./words";
import { words } from "./write";

const DROPS_AT_MOST = 40;

/** What a panel asks about the frame that is followed. */
export interface Asks {
  /** Go on from where an earlier search has ended. */
  why(earlier?: Search): void;
  whatIf(decision: Decision): void;
}

export class Panel {
  readonly root = document.createElement("section");
  /** What stands in the drawer. */
  readonly more = document.createElement("section");
  private readonly forms: PolicyForm[];
  private readonly canvas = document.createElement("canvas");
  private readonly sketch = new Sketch();
  private readonly ports: Ports;
  private readonly facts = document.createElement("p");
  private readonly key = document.createElement("p");
  /** What the signs of the strip mean. */
  private readonly signs = document.createElement("p");
  private readonly title = document.createElement("h2");
  private readonly warnings = document.createElement("p");
  private readonly why = document.createElement("div");
  private readonly fate = document.createElement("p");
  private readonly table = document.createElement("table");
  private figures: Figure[] = [];
  /** The score in words, for a picture. */
  scored: string[] = [];
  private run: Run | undefined;
  private readonly drops = document.createElement("ol");
  private pen: CanvasPen | undefined;
  /** Whether the drawer is open. */
  isOpen = false;
  private frame = 0;
  private told = 0;
  /** Of the canvas, in pixels of the page. */
  private size: [number, number] = [0, 0];

  constructor(
    private readonly letter: string,
    entries: Entry[],
    changed: (choice: Choice) => void,
    show: (port: string) => void,
    private readonly asks: Asks,
  ) {
    this.root.className = "panel";
    this.more.className = "panel more";
    this.more.setAttribute("aria-label", `Details of run ${letter}`);
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "buffer");
    this.facts.className = "facts";
    this.fate.className = "fate";
    this.fate.setAttribute("aria-live", "polite");
    this.key.className = "key";
    this.signs.className = "signs";
    this.warnings.className = "warnings";
    this.table.className = "score";
    this.drops.className = "drops";
    this.drops.setAttribute("aria-label", `What run ${letter} has just lost`);
    this.drops.tabIndex = 0; // it scrolls
    this.ports = new Ports(show);
    const scored = document.createElement("div");
    scored.className = "scored";
    scored.append(this.table);
    this.why.className = "why";
    this.root.append(this.title, this.sketch.root, this.canvas, this.signs, this.fate, this.why, scored);
    const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
    this.forms = kinds.map((kind) => new PolicyForm(kind, entries.filter((entry) => entry.kind === kind), changed));
    const head = document.createElement("h3");
    head.textContent = `Run ${letter}`;
    this.more.append(head, ...this.forms.map(({ root }) => root), this.facts, this.warnings, this.key, this.drops);
    new ResizeObserver(() => this.measure()).observe(this.canvas);
    this.canvas.onclick = ({ offsetX, offsetY }) => this.follow(offsetX, offsetY);
    this.canvas.onkeydown = (event) => this.press(event);
  }

  /** A run has been opened, of which these words say what it does. */
  open(run: Run, label: string, score?: (string | Figure)[]): void {
    this.run = run;
    this.figures = figures(score);
    this.title.textContent = `${this.letter} ${label}`;
    this.root.setAttribute("aria-label", `Run ${this.letter}: ${label}`);
    this.canvas.setAttribute("aria-label", `The buffer of run ${this.letter}, ${label}: Enter follows the frame at its head, arrow up and arrow down the frames beside it`);
    for (const form of this.forms) form.set(run.scenario.policies[form.kind]);
    this.ports.open();
    this.why.replaceChildren();
    (run.scenario.memory ? this.why : this.facts).after(this.ports.root);
    this.drops.replaceChildren();
    this.warnings.textContent = run.warnings.map((text) => `Warning: ${text}.`).join(" ");
    this.root.classList.toggle("shares", run.scenario.memory !== null);
    this.key.replaceChildren(...run.listed.map(([flow]) => sample(flow)), rest(run));
    words(this.signs, signs(run));
    this.sketch.open(run);
  }

  /** Offer the policies of a kind that the place takes. */
  offer(kind: string, refusals: Refusals): void {
    this.forms.find((form) => form.kind === kind)?.offer(refusals);
  }

  /** Draw the latest picture; `alone` if no other one follows at once, which would go on with what moves. */
  draw(run: Run, alone = true): void {
    const picture = run.picture;
    if (!picture) return;
    this.strip(run);
    if (alone || performance.now() > this.told + 100) this.tell(run, picture);
    cancelAnimationFrame(this.frame);
    if (alone) this.animate(run);
  }

  /** The figures of both runs so far and of their whole; `better` has the better run in a figure of the whole. */
  score(runs: Run[], documents: (Document | undefined)[], better: (figure: Figure) => number | undefined): void {
    const own = runs.findIndex((run) => run === this.run);
    if (own < 0) return;
    const { name: port = "", measure = "" } = runs[own]?.port ?? {};
    const document = documents[own];
    const whole = ({ path }: Figure) => document && figureOf(document, path, port);
    const shown = this.figures.filter((figure) => document === undefined || whole(figure) !== undefined);
    const mark = (figure: Figure) => (better(figure) === own ? " ▲" : "");
    const run = this.run;
    const warmup = this.run?.scenario.warmup ?? 0;
    const rows: [string, (figure: Figure) => string][] = [
      ["0 s to now", (figure) => written(figure.unit, run && figure.soFar?.(run), measure)],
      [`${warmup > 0 ? span(warmup) : "0 s"} to the end`, (figure) => (document ? written(figure.unit, whole(figure), measure) + mark(figure) : "…")],
      ...(shown.some(({ promise }) => promise !== undefined)
        ? [["promised", ({ unit, promise }) => (promise === undefined ? "" : written(unit, promise, measure))] satisfies [string, (figure: Figure) => string]]
        : []),
    ];
    const text = JSON.stringify([shown.map(({ label }) => label), rows.map(([name, of]) => [name, shown.map(of)])]);
    if (this.table.dataset["text"] === text) return;
    this.table.dataset["text"] = text;
    this.scored = rows.map(([name, of]) => `${name}: ${shown.map((figure) => `${figure.label} ${of(figure)}`).join(", ")}`);
    this.table.replaceChildren(line("th", [shown.some((figure) => better(figure) !== undefined) ? "▲ is better" : "", ...shown.map(({ label }) => label)]), ...rows.map(([name, of]) => line("td", [name, ...shown.map(of)])));
  }

  /** What the engine has found about the loss of the frame that is followed. */
  answer(run: Run, found: Search): void {
    run.saviours = framesThatSave(run, found);
    answer(this.why, found, (decision) => this.asks.whatIf(decision), () => this.asks.why(found));
    this.draw(run);
  }

  /** Offer to ask why the frame that is followed was lost. */
  private offerWhy(run: Run): void {
    this.why.replaceChildren();
    if (!run.followed?.isLost) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Why was this one lost?";
    button.onclick = () => this.asks.why();
    this.why.append(button);
  }

  /** The words and bars around the strip, ten times in a second at most. */
  private tell(run: Run, picture: Picture): void {
    this.told = performance.now();
    this.sketch.draw(run);
    this.ports.draw(run);
    words(this.fate, run.followed ? run.followed.fate(picture.units) : "");
    if (!this.isOpen) return;
    const rates = goodputs(run);
    run.listed.forEach(([, name], at) => {
      const item = this.key.children[at];
      if (item) words(item, `${name} ${rate(rates[at] ?? 0)}`);
    });
    words(this.facts, this.said(run));
    this.list(run, picture.missed);
  }

  /** What holds now, in words. */
  said(run: Run): string {
    const picture = run.picture;
    if (!picture) return "";
    const { measure, capacity } = run.port;
    const room = capacity === null || run.scenario.memory ? "" : `of ${count(capacity)} `;
    const counted = (counts: number[]) => counts.map((many, at) => (many > 0 ? `${count(many)} ${run.scenario.reasons[at]}` : "")).filter(Boolean);
    const [losses, marks] = [counted(picture.lost), counted(picture.marked)];
    return [
      `${count(picture.occupancy)} ${room}${measure}`,
      ...beside(run),
      ...run.thresholds().map(([name, level]) => `${name} ${count(Math.round(level))}`),
      `lost: ${losses.join(", ") || "none"}`,
      ...(marks.length > 0 ? [`marked: ${marks.join(", ")}`] : []),
      ...this.window(run),
      ...(run.followed ? [run.followed.fate(picture.units)] : []),
    ].join(" · ");
  }

  private measure(): void {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.size = [width, height];
    if (this.run) this.strip(this.run);
  }

  /** The strip as it is at this moment, with the canvas as sharp as the screen. */
  private strip(run: Run): void {
    const [width, height] = this.size;
    if (width === 0) return; // it has not been laid out yet
    const ratio = window.devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) [this.canvas.width, this.canvas.height] = [wide, high];
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.pen ??= new CanvasPen(context);
    new Strip(this.pen, run, inks(), width, height).draw(run.motion, performance.now());
  }

  /** Draw the strip until nothing moves any more. */
  private animate(run: Run): void {
    if (!run.motion.moves(performance.now())) return;
    this.frame = requestAnimationFrame(() => {
      if (this.run !== run) return;
      run.motion.prune(performance.now());
      this.strip(run);
      this.animate(run);
    });
  }

  /** Follow the frame at this place of the strip. */
  private follow(x: number, y: number): void {
    const found = this.run && unitAt(this.run, this.size, x, y);
    if (this.run && found) this.followFrame(this.run, found);
  }

  /** Follow a frame by the keyboard: the one at the head, or one beside the frame that is followed. */
  private press(event: KeyboardEvent): void {
    const run = this.run;
    const way = { Enter: 0, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way === undefined || !run) return;
    event.preventDefault();
    const frames = framesOf(run);
    const at = frames.findIndex((frame) => run.followed?.has(frame));
    const found = frames[way === 0 || at < 0 ? 0 : Math.min(frames.length - 1, Math.max(0, at + way))];
    if (found) this.followFrame(run, found);
  }

  private followFrame(run: Run, frame: Frame): void {
    run.follow(frame);
    this.offerWhy(run);
    this.draw(run);
  }

  /** What TCP knows of the first flow that has a window. */
  private window(run: Run): string[] {
    const at = run.picture?.flows.findIndex(({ window }) => window !== null) ?? -1;
    const window = run.picture?.flows[at]?.window;
    if (!window) return [];
    const threshold = window.ssthresh === null ? "" : `, ssthresh ${count(window.ssthresh)}`;
    const trip = !window.srtt ? "" : `, round trip as the clock of the sender measures it ${span(window.srtt)}`;
    return [`${run.listed[at]?.[1]}: window ${count(window.cwnd)}${threshold} bytes${trip}`];
  }

  private list(run: Run, missed: number): void {
    const news = run.drops.slice(-DROPS_AT_MOST).map((drop) => this.item(run, drop));
    for (const item of [...this.drops.children] as HTMLElement[]) {
      if (Number(item.dataset["time"]) > run.now) item.remove();
    }
    this.drops.prepend(...news.reverse());
    while (this.drops.children.length > DROPS_AT_MOST) this.drops.lastElementChild?.remove();
    this.drops.dataset["missed"] = missed > 0 ? `${count(missed)} earlier events are not listed` : "";
    run.drops = [];
  }

  /** A loss in words; a click follows its frame. */
  private item(run: Run, drop: Drop): HTMLElement {
    const { time, circuit, frame, index, reason } = drop;
    const item = document.createElement("li");
    item.style.setProperty("--flow", colour(run.flow[circuit] ?? -1));
    item.dataset["time"] = String(time);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${instant(time)} ${run.flowName(circuit)}, frame ${frame + 1}, unit ${index}: ${run.scenario.reasons[reason]}`;
    button.title = run.scenario.meanings[reason] ?? "";
    button.onclick = () => this.followFrame(run, drop);
    item.append(button);
    return item;
  }
}

/** The frames in the buffer, each once, from its head. */
function framesOf(run: Run): Frame[] {
  const frames: Frame[] = [];
  for (const { circuit, frame } of run.picture?.units ?? []) {
    if (!frames.some((other) => other.circuit === circuit && other.frame === frame)) frames.push({ circuit, frame });
  }
  return frames;
}

/** The signs that the strip of a run can have, beside the colours of flows. */
function signs({ port, scenario }: Run): string {
  const marks = JSON.stringify(scenario.policies).includes('"mark"');
  return [
    "head of the queue at the top left",
    "colour: flow",
    ...(port.cells ? ["hatched: frame broken", "notch: frame's end"] : []),
    ...(marks ? ["dot: mark"] : []),
    ...(scenario.thresholds.length > 0 ? ["line: threshold"] : []),
  ].join(" · ");
}

/** The policies beside the admission policy. */
function beside({ scenario: { policies } }: Run): string[] {
  const { scheduler, pushout, discipline } = policies;
  return [
    ...(pushout ? [`push-out ${pushout.policy}`] : []),
    ...(scheduler ? [`scheduler ${scheduler.policy}`] : []),
    ...(typeof discipline === "string" ? [`discipline ${discipline}`] : []),
  ];
}

function sample(at: number): HTMLElement {
  const item = document.createElement("span");
  item.style.setProperty("--flow", colour(at));
  return item;
}

/** How many flows the key does not show. */
function rest({ scenario: { flows, listed, passing } }: Run): HTMLElement {
  const item = document.createElement("em");
  item.textContent = flows.length > listed.length ? `the first ${listed.length} of ${passing.length < flows.length ? `${count(passing.length)} flows here, ` : ""}${count(flows.length)} flows` : "";
  return item;
}

function line(kind: "th" | "td", cells: string[]): HTMLTableRowElement {
  const row = document.createElement("tr");
  cells.forEach((text, at) => {
    const box = document.createElement(text === "" ? "td" : at === 0 ? "th" : kind);
    if (box.tagName === "TH") box.setAttribute("scope", at === 0 ? "row" : "col");
    box.textContent = text;
    if (text.endsWith("▲")) box.className = "wins";
    row.append(box);
  });
  return row;
}
