// One run on the page: its policy, its buffer, its counts, what it has just lost.

import { PolicyForm, type Choice } from "./form";
import { colour } from "./flow";
import type { Entry } from "./protocol";
import type { Run } from "./run";
import { Strip } from "./strip";
import { count, instant, span } from "./words";

const DROPS_AT_MOST = 40;

export class Panel {
  readonly root = document.createElement("section");
  private readonly form: PolicyForm;
  private readonly strip: Strip;
  private readonly facts = document.createElement("p");
  private readonly key = document.createElement("p");
  private run: Run | undefined;
  private readonly drops = document.createElement("ol");

  constructor(letter: string, entries: Entry[], changed: (choice: Choice) => void) {
    this.root.className = "panel";
    this.root.setAttribute("aria-label", `Run ${letter}`);
    const head = document.createElement("div");
    head.className = "policy";
    const title = document.createElement("h2");
    title.textContent = letter;
    head.append(title);
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `The buffer of run ${letter}, its head at the top left`);
    this.facts.className = "facts";
    this.key.className = "key";
    this.drops.className = "drops";
    this.drops.setAttribute("aria-label", `What run ${letter} has just lost`);
    this.root.append(head, canvas, this.facts, this.key, this.drops);
    this.form = new PolicyForm(head, entries, changed);
    this.strip = new Strip(canvas);
    canvas.onclick = ({ offsetX, offsetY }) => this.follow(offsetX, offsetY);
  }

  /** A run has been opened. */
  open(run: Run): void {
    this.run = run;
    const { policy, ...values } = run.scenario.policies.admission;
    const texts = Object.entries(values).filter(([, value]) => value !== null && typeof value !== "object");
    this.form.set(policy, Object.fromEntries(texts.map(([key, value]) => [key, String(value)])));
    this.drops.replaceChildren();
    this.key.replaceChildren(...run.scenario.flows.slice(0, run.scenario.flows_over_time).map((flow, at) => sample(flow, at)));
  }

  draw(run: Run): void {
    const picture = run.picture;
    if (!picture) return;
    this.strip.draw(run);
    const { measure, capacity } = run.port;
    const room = capacity === null ? "no limit" : `of ${count(capacity)}`;
    const losses = picture.lost.map((many, at) => (many > 0 ? `${count(many)} ${run.scenario.reasons[at]}` : "")).filter(Boolean);
    const marks = picture.marked.map((many, at) => (many > 0 ? `${count(many)} ${run.scenario.reasons[at]}` : "")).filter(Boolean);
    const thresholds = run.thresholds().map(([name, level]) => `${name} ${count(Math.round(level))}`);
    this.facts.textContent = [
      `${count(picture.occupancy)} ${room} ${measure}`,
      ...thresholds,
      `lost: ${losses.join(", ") || "none"}`,
      ...(marks.length > 0 ? [`marked: ${marks.join(", ")}`] : []),
      ...this.window(run),
      ...(run.followed ? [run.followed.fate(picture.units)] : []),
    ].join(" · ");
    this.list(run);
  }

  /** Follow the frame at this place of the strip. */
  private follow(x: number, y: number): void {
    const found = this.run && this.strip.at(this.run, x, y);
    if (!this.run || !found) return;
    this.run.follow(...found);
    this.draw(this.run);
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

  private list(run: Run): void {
    const missed = run.picture?.missed ?? 0;
    const news = run.drops.slice(-DROPS_AT_MOST).map(({ time, flow, frame, index, reason, colour: of }) => {
      const item = document.createElement("li");
      item.style.setProperty("--flow", colour(of));
      item.dataset["time"] = String(time);
      item.textContent = `${instant(time)} ${flow}, frame ${frame}, unit ${index}: ${reason}`;
      return item;
    });
    for (const item of [...this.drops.children] as HTMLElement[]) {
      if (Number(item.dataset["time"]) > run.now) item.remove();
    }
    this.drops.prepend(...news.reverse());
    while (this.drops.children.length > DROPS_AT_MOST) this.drops.lastElementChild?.remove();
    this.drops.dataset["missed"] = missed > 0 ? `${count(missed)} earlier events are not listed` : "";
    run.drops = [];
  }
}

function sample(flow: string, at: number): HTMLElement {
  const item = document.createElement("span");
  item.style.setProperty("--flow", colour(at));
  item.textContent = flow;
  return item;
}
