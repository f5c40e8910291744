// On a narrow screen one run is in view: a swipe or a button shows the other one.

import { words } from "./write";

export class Swipe {
  private readonly buttons: HTMLButtonElement[] = [];

  /** Buttons in `place` for the panels that stand side by side in `runs`. */
  constructor(
    private readonly place: HTMLElement,
    private readonly runs: HTMLElement,
  ) {
    runs.addEventListener("scroll", () => this.mark(), { passive: true });
  }

  /** Runs have been opened, of which these words say what each does. */
  open(labels: string[]): void {
    const texts = labels.map((label, at) => `${"AB"[at]} ${label}`);
    if (this.buttons.map(({ firstChild }) => firstChild?.textContent).join("\n") !== texts.join("\n")) {
      this.buttons.splice(0, this.buttons.length, ...texts.map((text, at) => this.button(text, at)));
      this.place.replaceChildren(...this.buttons);
      this.place.hidden = texts.length < 2;
    }
    this.mark();
  }

  /** Write a figure of each run below its name, so that both are in view. */
  score(texts: string[]): void {
    this.buttons.forEach((button, at) => {
      const place = button.lastElementChild;
      if (place) words(place, texts[at] ?? "");
    });
  }

  private button(text: string, at: number): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    button.append(text, document.createElement("small"));
    button.onclick = () => this.runs.scrollTo({ left: at * this.runs.clientWidth });
    return button;
  }

  /** Show which run is in view. */
  private mark(): void {
    const seen = Math.round(this.runs.scrollLeft / Math.max(1, this.runs.clientWidth));
    this.buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === seen)));
  }
}
