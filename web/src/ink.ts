// The colours of the page, which depend on light and dark.

export interface Inks {
  page: string;
  panel: string;
  room: string;
  text: string;
  muted: string;
  threshold: string;
}

/** Those of paper, whatever the screen has. */
export const PAPER: Inks = { page: "#fff", panel: "#fff", room: "#e6e9ec", text: "#16191c", muted: "#59636e", threshold: "#b3261e" };

let known: Inks | undefined;
let isPaper = false;

/** Those of the page; asking the browser has it compute all styles, so they are kept until they change. */
export function inks(): Inks {
  known ??= isPaper ? PAPER : asked();
  return known;
}

/** The page has become light or dark, or is printed. */
export function renewInks(onPaper = false): void {
  isPaper = onPaper;
  known = undefined;
}

function asked(): Inks {
  const style = getComputedStyle(document.documentElement);
  const ink = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    page: ink("page"),
    panel: ink("panel"),
    room: ink("room"),
    text: ink("text"),
    muted: ink("muted"),
    threshold: ink("threshold"),
  };
}
