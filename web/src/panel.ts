// One run on the page: its policy, its buffer, its counts, what it has just lost.

import { PolicyForm, type Choice } from "./form";
import { colour } from "./flow";
import { inks } from "./ink";
import { CanvasPen } from "./pen";
import { Ports } from "./ports";
import type { Entry, Frame, Picture } from "./protocol";
import type { Drop, Run } from "./run";
import { goodputs } from "./series";
import { Strip, unitAt } from "./strip";
import { count, instant, rate, span } from "./words";

const DROPS_AT_MOST = 40;

export class Panel {
  readonly root = document.createElement("section");
  private readonly form: PolicyForm;
  private readonly canvas = document.createElement("canvas");
  private readonly ports: Ports;
  private readonly facts = document.createElement("p");
  private readonly key = document.createElement("p");
  private run: Run | undefined;
  private readonly drops = document.createElement("ol");
  private frame = 0;
  private told = 0;
  /** Of the canvas, in pixels of the page. */
  private size: [number, number] = [0, 0];

  constructor(letter: string, entries: Entry[], changed: (choice: Choice) => void, show: (port: string) => void) {
    this.root.className = "panel";
    this.root.setAttribute("aria-label", `Run ${letter}`);
    const head = document.createElement("div");
    head.className = "policy";
    const title = document.createElement("h2");
    title.textContent = letter;
    head.append(title);
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `The buffer of run ${letter}, its head at the top left`);
    this.facts.className = "facts";
    this.key.className = "key";
    this.drops.className = "drops";
    this.drops.setAttribute("aria-label", `What run ${letter} has just lost`);
    this.drops.tabIndex = 0; // it scrolls
    this.ports = new Ports(show);
    this.root.append(head, this.canvas, this.facts, this.ports.root, this.key, this.drops);
    this.form = new PolicyForm(head, entries, changed);
    new ResizeObserver(() => this.measure()).observe(this.canvas);
    this.canvas.onclick = ({ offsetX, offsetY }) => this.follow(offsetX, offsetY);
  }

  /** A run has been opened. */
  open(run: Run): void {
    this.run = run;
    const { policy, ...values } = run.scenario.policies.admission;
    const texts = Object.entries(values).filter(([, value]) => value !== null && typeof value !== "object");
    this.form.set(policy, Object.fromEntries(texts.map(([key, value]) => [key, String(value)])));
    this.ports.open();
    this.drops.replaceChildren();
    this.key.replaceChildren(...run.scenario.flows.slice(0, run.scenario.flows_over_time).map((_, at) => sample(at)));
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

  /** The words and bars below the strip, ten times in a second at most. */
  private tell(run: Run, picture: Picture): void {
    this.told = performance.now();
    this.ports.draw(run);
    const rates = goodputs(run);
    run.scenario.flows.slice(0, this.key.children.length).forEach((flow, at) => {
      const item = this.key.children[at];
      if (item) item.textContent = `${flow} ${rate(rates[at] ?? 0)}`;
    });
    this.facts.textContent = this.said(run);
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
    new Strip(new CanvasPen(context), run, inks(this.canvas), width, height).draw(run.motion, performance.now());
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

  private followFrame(run: Run, frame: Frame): void {
    run.follow(frame);
    this.draw(run);
  }

  /** What TCP knows of the first flow that has a window. */
  private window(run: Run): string[] {
    const at = run.picture?.flows.findIndex(({ window }) => window !== null) ?? -1;
    const window = run.picture?.flows[at]?.window;
    if (!window) return [];
    const threshold = window.ssthresh === null ? "" : `, ssthresh ${count(window.ssthresh)}`;
    const trip = !window.srtt ? "" : `, round trip ${span(window.srtt)}`;
    return [`${run.scenario.flows[at]}: window ${count(window.cwnd)}${threshold} bytes${trip}`];
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
    button.textContent = `${instant(time)} ${run.flowName(circuit)}, frame ${frame}, unit ${index}: ${run.scenario.reasons[reason]}`;
    button.title = run.scenario.meanings[reason] ?? "";
    button.onclick = () => this.followFrame(run, drop);
    item.append(button);
    return item;
  }
}

/** The policies beside the admission policy. */
function beside({ scenario: { policies } }: Run): string[] {
  const { scheduler, pushout } = policies;
  return [...(pushout ? [`push-out ${pushout.policy}`] : []), ...(scheduler ? [`scheduler ${scheduler.policy}`] : [])];
}

function sample(at: number): HTMLElement {
  const item = document.createElement("span");
  item.style.setProperty("--flow", colour(at));
  return item;
}
