// The network of a run in a line: senders, the port in view or the memory that it shares, receivers. A dot grows with the rate of its flow; a ring shows a
// sender that waits for a timeout; the way back lights up with marks, the way forth with a pause.

import { colour } from "./flow";
import type { Picture } from "./protocol";
import type { Run } from "./run";
import { PER_SECOND, count, rate } from "./words";
import { attribute, words } from "./write";

const [WIDTH, HEIGHT] = [600, 54];
const [MIDDLE, TOP] = [24, 6];
const DOTS = 32;
/** How much of a rate is that of the latest picture. */
const FRESH = 0.3;
/** The share of the line, as its reciprocal, below which no dot is the largest. */
const LEAST = 1000;
const [BOX, BOX_WIDE] = [300, 120];
const SPACE = "http://www.w3.org/2000/svg";

export class Sketch {
  readonly root = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "sketch" });
  private readonly dots: SVGElement[] = [];
  /** The flow of each dot, and its place among those with figures over time. */
  private flows: { flow: number; place: number }[] = [];
  private readonly level = element("rect", { x: BOX, y: TOP, height: 36, width: 0, class: "filled" });
  private readonly forth = element("path", { d: `M170 ${MIDDLE}H${BOX}`, class: "way" });
  private readonly back = element("path", { d: `M${WIDTH - 40} ${MIDDLE + 12}V50H140V${MIDDLE + 14}`, class: "back" });
  private readonly words = element("text", { x: 180, y: MIDDLE - 6, class: "pause" });
  private readonly stalled = new Map<number, { timeouts: number; delivered: number; waits: boolean }>();
  private marks = 0;
  private rates: number[] = [];
  private before: Picture | undefined;
  private named = "";

  /** A run has been opened. */
  open(run: Run): void {
    const { flows, listed, passing } = run.scenario;
    const those = flows.length > DOTS && passing.length > 0 ? passing : [...flows.keys()];
    this.flows = those.slice(0, DOTS).map((flow) => ({ flow, place: listed.indexOf(flow) }));
    this.stalled.clear();
    this.marks = 0;
    this.dots.length = 0;
    this.rates = [];
    this.before = undefined;
    const apart = this.flows.length > 16 ? 9.5 : 18;
    this.flows.forEach(({ flow }, at) => this.dots.push(element("circle", { cx: 10 + apart * Math.floor(at / 2), cy: 14 + 20 * (at % 2), r: 3, fill: colour(flow) })));
    const more = those.length > DOTS ? `+ ${count(those.length - DOTS)}` : "";
    this.named = `${count(those.length)}${those.length < flows.length ? ` of ${count(flows.length)}` : ""} flows to port ${run.port.name} at ${rate(run.port.rate)}`;
    this.root.replaceChildren(
      this.forth,
      element("path", { d: `M${BOX + BOX_WIDE} ${MIDDLE}H${WIDTH - 52}`, class: "way" }),
      this.back,
      ...this.dots,
      text(172, MIDDLE - 8, more, "start"),
      text(0, HEIGHT - 1, "flows, larger if faster", "start"),
      element("rect", { x: BOX, y: TOP, width: BOX_WIDE, height: 36, class: "box" }),
      this.level,
      text(BOX + BOX_WIDE / 2, MIDDLE + 4, run.scenario.memory ? `memory ${run.scenario.memory.name}` : run.port.name, "middle"),
      ...line(run).map((words, at) => text((BOX + BOX_WIDE + WIDTH - 52) / 2, MIDDLE - 6 + 18 * at, words, "middle")),
      element("circle", { cx: WIDTH - 40, cy: MIDDLE, r: 11, class: "box" }),
      this.words,
    );
  }

  draw(run: Run): void {
    const picture = run.picture;
    if (!picture) return;
    const rates = this.smoothed(run);
    const most = Math.max(run.port.rate / (8 * PER_SECOND * LEAST), ...rates);
    const largest = this.flows.length > 16 ? 2.8 : 5.5;
    let waiting = 0;
    this.dots.forEach((dot, at) => {
      attribute(dot, "r", (2 + largest * Math.sqrt((rates[at] ?? 0) / most)).toFixed(1));
      const waits = this.waits(run, at);
      dot.classList.toggle("waits", waits);
      waiting += waits ? 1 : 0;
    });
    const room = run.scenario.memory?.cells ?? run.port.capacity ?? Math.max(1, ...run.rows.map(({ occupancy }) => occupancy));
    const used = run.scenario.memory ? (picture.memory?.used ?? 0) : picture.occupancy;
    attribute(this.level, "width", (BOX_WIDE * Math.min(1, used / Math.max(1, room))).toFixed(1));
    const marks = picture.marked.reduce((all, many) => all + many, 0);
    const [isMarking, paused] = [marks > this.marks, picture.paused.filter(Boolean).length];
    this.marks = marks;
    this.back.classList.toggle("lit", isMarking);
    this.forth.classList.toggle("lit", paused > 0);
    words(this.words, paused > 0 ? `‖ ${count(paused)} paused` : "");
    const facts = [
      this.named,
      ...(waiting > 0 ? [`${count(waiting)} wait for a timeout`] : []),
      ...(isMarking ? ["marks travel back"] : []),
      ...(paused > 0 ? [`${count(paused)} lines are paused`] : []),
    ];
    attribute(this.root, "aria-label", facts.join("; "));
  }

  /** What each flow delivers of late, in octets for a picosecond. */
  private smoothed({ picture }: Run): number[] {
    const before = this.before;
    if (!picture || (before && picture.now < before.now)) this.rates = [];
    if (picture && before && picture.now > before.now) {
      const span = picture.now - before.now;
      this.rates = this.flows.map(({ flow }, at) => {
        const latest = Math.max(0, (picture.delivered[flow] ?? 0) - (before.delivered[flow] ?? 0)) / span; // a new transfer begins at 0
        return latest * FRESH + (this.rates[at] ?? latest) * (1 - FRESH);
      });
    }
    this.before = picture;
    return this.rates;
  }

  /** Whether a flow has met a timeout and has delivered nothing since. */
  private waits(run: Run, at: number): boolean {
    const flow = run.picture?.flows[this.flows[at]?.place ?? -1];
    const timeouts = flow?.window?.timeouts ?? 0;
    const delivered = flow?.delivered ?? 0;
    const before = this.stalled.get(at) ?? { timeouts, delivered, waits: false };
    const waits = timeouts > before.timeouts || (before.waits && delivered === before.delivered);
    this.stalled.set(at, { timeouts, delivered, waits });
    return waits;
  }
}

function element(kind: string, values: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SPACE, kind);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, String(value));
  return made;
}

/** The words at the line of the port: its rate and, where the box is a memory of several ports, below it its name. */
function line({ port, scenario }: Run): string[] {
  const carries = `${scenario.course ? "at most " : ""}${rate(port.rate)}`;
  return scenario.memory ? [carries, port.name] : [carries];
}

function text(x: number, y: number, words: string, anchor: string): SVGElement {
  const made = element("text", { x, y, "text-anchor": anchor });
  made.textContent = words;
  return made;
}
