// Write to the page only what changes: an attribute that is set again makes the browser compute styles again.

export function attribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function words(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A number in a variable of the style, to a thousandth. */
export function variable(element: HTMLElement, name: string, value: number): void {
  const text = String(Math.round(1000 * value) / 1000);
  if (element.style.getPropertyValue(name) !== text) element.style.setProperty(name, text);
}
