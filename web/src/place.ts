// Elements of the page by their identifiers.

export function at<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element as T;
}

export function content(id: string): string {
  return document.getElementById(id)?.textContent?.trim() ?? "";
}
