// What can be taken from the page: pictures, figures over time, scenarios, commands, links.

import { command, save } from "./files";
import type { Lab } from "./lab";
import { png, svg } from "./picture";
import { at } from "./place";
import { csv, shownTable } from "./table";

export class Handout {
  constructor(
    private readonly lab: Lab,
    private readonly tell: (text: string, wrong?: boolean) => void,
  ) {
    this.on("png", async (name) => save(`${name}.png`, await png(this.shot())));
    this.on("svg", (name) => save(`${name}.svg`, svg(this.shot()), "image/svg+xml"));
    this.on("csv", (name) => save(`${name}.csv`, csv(lab.runs, lab.now), "text/csv"));
    this.on("toml", (name) => this.scenarios(name));
    this.on("link", () => this.copy(location.href));
    this.on("command", () => this.copy(this.commands().join("\n")));
    at("table").addEventListener("toggle", () => this.table());
  }

  /** The table of figures, if it is open. */
  table(): void {
    const details = at<HTMLDetailsElement>("table");
    details.querySelector("div")?.replaceChildren(...(details.open ? [shownTable(this.lab.runs, this.lab.now)] : []));
  }

  private on(id: string, act: (name: string) => void | Promise<void>): void {
    at(id).onclick = async () => {
      try {
        await act(`pushout-${this.lab.preset?.name.replace(/[^\w-]+/g, "-") ?? "lab"}`);
      } catch (why) {
        this.tell(why instanceof Error ? why.message : String(why), true);
      }
    };
  }

  private shot() {
    return this.lab.shot(this.lab.preset?.title ?? "Pushout lab", this.commands());
  }

  private commands(): string[] {
    const { preset, sets } = this.lab;
    return preset ? sets.map((own) => command(preset, own)) : [];
  }

  /** A file for each run, with the command that does the same. */
  private async scenarios(name: string): Promise<void> {
    const commands = this.commands();
    for (const [index, run] of this.lab.runs.entries()) {
      const head = `# Run ${"AB"[index]} of the Pushout lab, as by\n# ${commands[index]}\n\n`;
      save(`${name}-${"ab"[index]}.toml`, head + (await run.toml()));
    }
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
