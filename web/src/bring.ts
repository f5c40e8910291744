// Scenarios that the reader brings: a file that is chosen or dropped on the page, or a text that is pasted.

import { at } from "./place";

/** Call `open` with the name of its file and the text of each. */
export function bring(open: (file: string, text: string) => void): void {
  const read = async (file: File): Promise<void> => open(file.name, await file.text());
  const input = at<HTMLInputElement>("file");
  at("bring").onclick = () => input.click();
  input.onchange = () => {
    const [file] = input.files ?? [];
    input.value = ""; // the same file may be chosen again
    if (file) void read(file);
  };
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    const text = event.dataTransfer?.getData("text/plain") ?? "";
    if (file) void read(file);
    else if (text !== "") open("dropped.toml", text);
  });
  document.addEventListener("paste", (event) => {
    const isField = event.target instanceof HTMLElement && event.target.matches("input, textarea");
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (isField || text.trim() === "") return;
    event.preventDefault();
    open("pasted.toml", text);
  });
}
