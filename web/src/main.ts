// The page: buttons, keys, the clock.

import { Client } from "./client";
import { Lab } from "./lab";
import { fromLink, toLink } from "./link";
import { type Preset, presets } from "./presets";
import { instant, picoseconds, seconds, span } from "./words";

const at = <T extends HTMLElement>(id: string): T => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element as T;
};

const still = matchMedia("(prefers-reduced-motion: reduce)");

class Page {
  private readonly lab: Lab;
  private readonly offers = presets();
  private playing = false;
  /** Simulated seconds in a second. */
  private pace = 1e-3;

  constructor(client: Client, entries: Awaited<ReturnType<Client["policies"]>>) {
    this.lab = new Lab(client, entries, at("runs"), at("charts"), (text, wrong) => this.tell(text, wrong), () => this.shown());
    this.buttons();
    this.keys();
    for (const { name, title } of this.offers) at<HTMLSelectElement>("preset").add(new Option(title, name));
    addEventListener("resize", () => this.lab.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.lab.restyle());
    void this.begin();
  }

  private async begin(): Promise<void> {
    const link = fromLink(location.hash);
    const preset = this.offers.find(({ name }) => typeof link === "object" && name === link.preset) ?? this.offers[0];
    if (!preset) return;
    const linked = typeof link === "object" && link.preset === preset.name ? link : undefined;
    await this.open(preset, linked?.sets ?? preset.runs, linked?.now ?? picoseconds(preset.from ?? 0));
    if (linked && this.lab.runs.length === 0) {
      const why = at("message").textContent ?? "";
      await this.open(preset, preset.runs, picoseconds(preset.from ?? 0));
      this.tell(`the link cannot be shown: ${why}`, true);
    }
    if (typeof link === "string") this.tell(link, true);
    else if (link && !linked) this.tell(`this page has no scenario ${link.preset}`, true);
    document.documentElement.dataset["ready"] = "true";
  }

  private async open(preset: Preset, sets: string[][], now: number): Promise<void> {
    this.play(false);
    at<HTMLSelectElement>("preset").value = preset.name;
    at("look").textContent = preset.look;
    this.setPace(preset.pace ?? 1e-3);
    await this.lab.open(preset, sets, now);
  }

  private buttons(): void {
    at<HTMLSelectElement>("preset").onchange = ({ target }) => {
      const preset = this.offers.find(({ name }) => name === (target as HTMLSelectElement).value);
      if (preset) void this.open(preset, preset.runs, picoseconds(preset.from ?? 0));
    };
    at("play").onclick = () => this.play(!this.playing);
    at("start").onclick = () => void this.lab.go(0);
    at("back").onclick = () => void this.lab.go(Math.max(0, this.lab.now - picoseconds(this.pace / 10)));
    at("unit").onclick = () => void this.lab.next("unit");
    at("frame").onclick = () => void this.lab.next("frame");
    at("drop").onclick = () => void this.lab.next("drop");
    at("difference").onclick = () => void this.lab.firstDifference();
    at<HTMLInputElement>("time").onchange = ({ target }) => {
      void this.lab.go((Number((target as HTMLInputElement).value) / 1000) * this.lab.duration);
    };
    at<HTMLInputElement>("pace").oninput = ({ target }) => this.setPace(10 ** Number((target as HTMLInputElement).value));
    at("link").onclick = () => void this.copy(location.href);
    at("command").onclick = () => void this.copy(at("command").textContent ?? "");
  }

  private keys(): void {
    const keys: Record<string, () => void> = {
      " ": () => this.play(!this.playing),
      ArrowLeft: () => at("back").click(),
      ArrowRight: () => at("unit").click(),
      f: () => at("frame").click(),
      d: () => at("drop").click(),
      x: () => at("difference").click(),
      "[": () => this.setPace(this.pace / 2),
      "]": () => this.setPace(this.pace * 2),
      "?": () => at<HTMLDetailsElement>("keys").toggleAttribute("open"),
    };
    document.addEventListener("keydown", (event) => {
      const isField = event.target instanceof HTMLElement && event.target.matches("input, select, button, summary");
      const act = keys[event.key];
      if (!act || isField || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  private play(on: boolean): void {
    this.playing = on && !still.matches;
    if (on && still.matches) void this.lab.next("unit"); // motion is not wanted: a step instead
    at("play").textContent = this.playing ? "Pause" : "Play";
    if (this.playing) void this.run();
  }

  private async run(): Promise<void> {
    let before = performance.now();
    while (this.playing && this.lab.now < this.lab.duration) {
      const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      const passed = Math.min(0.1, Math.max(0, now - before) / 1000);
      before = now;
      await this.lab.go(this.lab.now + picoseconds(passed * this.pace));
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
    const { now, duration, preset, runs } = this.lab;
    at("now").textContent = instant(now);
    at<HTMLInputElement>("time").value = String((1000 * now) / Math.max(1, duration));
    at<HTMLInputElement>("time").setAttribute("aria-valuetext", `${seconds(now).toFixed(6)} s of ${seconds(duration)} s`);
    at("difference").toggleAttribute("disabled", runs.length < 2);
    if (!preset || this.playing) return;
    history.replaceState(null, "", toLink({ preset: preset.name, sets: this.lab.sets, now }));
    at("command").textContent = this.lab.sets.map((sets) => command(preset, sets)).join("\n");
  }

  private tell(text: string, wrong = false): void {
    at("message").textContent = text;
    at("message").classList.toggle("wrong", wrong);
  }

  private async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.tell("Copied.");
    } catch {
      this.tell(text);
    }
  }
}

/** The command that repeats a run. */
function command({ file }: Preset, sets: string[]): string {
  const seed = sets.filter((set) => set.startsWith("seed=")).map((set) => ` --seed ${set.slice(5)}`);
  const others = sets.filter((set) => !set.startsWith("seed=")).map((set) => ` --set '${set}'`);
  return `pushout run ${file}${seed.join("")}${others.join("")}`;
}

const content = (id: string) => document.getElementById(id)?.textContent?.trim() ?? "";

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
