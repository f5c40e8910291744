// The colours of the page, which depend on light and dark.

export interface Inks {
  page: string;
  panel: string;
  room: string;
  text: string;
  muted: string;
  threshold: string;
}

/** Those that hold for this element. */
export function inks(element: Element): Inks {
  const style = getComputedStyle(element);
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
