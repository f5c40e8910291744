// The page: buttons, keys, the clock.

import { Client } from "./client";
import { command } from "./files";
import { Handout } from "./handout";
import { Lab } from "./lab";
import { fromLink, toLink } from "./link";
import { at, content } from "./place";
import { type Preset, presets } from "./presets";
import { instant, picoseconds, seconds, span } from "./words";

const still = matchMedia("(prefers-reduced-motion: reduce)");

class Page {
  private readonly lab: Lab;
  private readonly offers = presets();
  private readonly handout: Handout;
  private playing = false;
  /** Simulated seconds in a second. */
  private pace = 1e-3;
  private announced = 0;

  constructor(client: Client, entries: Awaited<ReturnType<Client["policies"]>>) {
    this.lab = new Lab(client, entries, at("runs"), at("charts"), (text, wrong) => this.tell(text, wrong), () => this.shown());
    this.handout = new Handout(this.lab, (text, wrong) => this.tell(text, wrong));
    this.buttons();
    this.keys();
    for (const { name, title } of this.offers) at<HTMLSelectElement>("preset").add(new Option(title, name));
    addEventListener("resize", () => this.lab.redraw());
    addEventListener("hashchange", () => void this.follow());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.lab.restyle());
    void this.follow();
  }

  /** Show what the address names. */
  private async follow(): Promise<void> {
    const link = fromLink(location.hash);
    const shown = typeof link === "object" ? link : undefined;
    const named = this.offers.find(({ name }) => name === shown?.preset);
    const preset = named ?? this.offers[0];
    if (!preset) return;
    if (shown && named) await this.open(preset, shown.sets, shown.now, shown.port);
    if (this.lab.runs.length === 0) {
      const why = at("message").textContent ?? "";
      await this.open(preset);
      if (named) this.tell(`the link cannot be shown: ${why}`, true);
    }
    if (typeof link === "string") this.tell(link, true);
    else if (link && !named) this.tell(`this page has no scenario ${link.preset}`, true);
    document.documentElement.dataset["ready"] = "true";
  }

  /** Open a preset, as it is unless these say otherwise. */
  private async open(preset: Preset, sets = preset.runs, now = picoseconds(preset.from ?? 0), port = preset.port): Promise<void> {
    this.play(false);
    at<HTMLSelectElement>("preset").value = preset.name;
    at("look").textContent = preset.look;
    at("printed").textContent = preset.printed ? `In print (study ${preset.printed.study}): ${preset.printed.text}` : "";
    this.setPace(preset.pace ?? 1e-3);
    await this.lab.open(preset, sets, now, port);
  }

  private buttons(): void {
    at<HTMLSelectElement>("preset").onchange = ({ target }) => {
      const preset = this.offers.find(({ name }) => name === (target as HTMLSelectElement).value);
      if (preset) void this.open(preset);
    };
    at("play").onclick = () => this.play(!this.playing);
    at("start").onclick = () => void this.lab.go(0);
    at("back").onclick = () => void this.lab.go(Math.max(0, this.lab.now - picoseconds(this.pace / 10)));
    at("unit").onclick = () => void this.lab.next("unit");
    at("frame").onclick = () => void this.lab.next("frame");
    at("drop").onclick = () => void this.lab.next("drop");
    at("mark").onclick = () => void this.lab.next("mark");
    at("trip").onclick = () => void this.lab.next("round-trip");
    at("difference").onclick = () => void this.lab.firstDifference();
    at<HTMLInputElement>("time").onchange = ({ target }) => {
      void this.lab.go((Number((target as HTMLInputElement).value) / 1000) * this.lab.duration);
    };
    at<HTMLInputElement>("pace").oninput = ({ target }) => this.setPace(10 ** Number((target as HTMLInputElement).value));
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
      "[": () => this.setPace(this.pace / 2),
      "]": () => this.setPace(this.pace * 2),
      "?": () => at<HTMLDetailsElement>("keys").toggleAttribute("open"),
    };
    document.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || uses(event.target, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  private play(on: boolean): void {
    this.playing = on && !still.matches;
    this.lab.playing = this.playing;
    if (on && still.matches) void this.lab.next("unit"); // motion is not wanted: a step instead
    at("play").textContent = this.playing ? "Pause" : "Play";
    if (this.playing) void this.run();
    else this.lab.redraw();
  }

  private async run(): Promise<void> {
    let before = performance.now();
    while (this.playing && this.lab.now < this.lab.duration) {
      const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      const passed = Math.min(0.1, Math.max(0, now - before) / 1000);
      before = now;
      if (this.playing) await this.lab.go(this.lab.now + picoseconds(passed * this.pace));
    }
    if (this.playing) this.play(false);
  }

  private setPace(pace: number): void {
    this.pace = Math.min(1, Math.max(1e-6, pace));
    at<HTMLInputElement>("pace").value = String(Math.log10(this.pace));
    at("speed").textContent = `${span(picoseconds(this.pace))} per second`;
  }

  /** A picture has been drawn: say when it is, and keep the address of what is shown. */
  private shown(): void {
    const { now, duration, preset, runs, sets, port } = this.lab;
    this.lab.moves = !still.matches;
    at("now").textContent = instant(now);
    at<HTMLInputElement>("time").value = String((1000 * now) / Math.max(1, duration));
    at<HTMLInputElement>("time").setAttribute("aria-valuetext", `${seconds(now).toFixed(6)} s of ${seconds(duration)} s`);
    at("difference").toggleAttribute("disabled", runs.length < 2);
    this.announce();
    if (!preset || this.playing) return;
    this.handout.table();
    history.replaceState(null, "", toLink({ preset: preset.name, sets, now, ...(port === undefined ? {} : { port }) }));
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
    at("message").textContent = text;
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
    const client = new Client(JSON.parse(content("worker")) as string, content("engine"));
    new Page(client, await client.policies());
  } catch (why) {
    at("message").textContent = `This browser cannot run the simulator: ${why instanceof Error ? why.message : String(why)}`;
    at("message").classList.add("wrong");
  }
}

void main();
