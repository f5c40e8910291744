// Write the page as one file: build.mjs ENGINE.wasm LAB.html. The same input gives the same bytes.

import { readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { build } from "esbuild";

const [engine, page] = process.argv.slice(2);
const here = (path) => new URL(path, import.meta.url);
const read = (path) => readFileSync(here(path), "utf8");

async function bundled(entry) {
  const { outputFiles } = await build({
    entryPoints: [here(entry).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
  });
  return outputFiles[0].text;
}

/** As JSON inside a script element, which nothing in it ends. */
const json = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
const script = (text) => text.replaceAll("</script", "<\\/script");

function presets() {
  const files = new Map();
  const text = (file) => {
    if (!files.has(file)) files.set(file, read(file.includes("/") ? `../${file}.toml` : `../scenarios/${file}.toml`));
    return files.get(file);
  };
  return JSON.parse(read("presets.json")).map((preset) => ({ ...preset, text: text(preset.file) }));
}

const style = read("node_modules/uplot/dist/uPlot.min.css") + read("src/style.css");
const parts = {
  "/*style*/": style,
  "/*presets*/": json(presets()),
  "/*worker*/": json(await bundled("src/worker.ts")),
  "/*engine*/": deflateRawSync(readFileSync(engine), { level: 9 }).toString("base64"),
  "/*main*/": script(await bundled("src/main.ts")),
};
const html = Object.entries(parts).reduce((text, [mark, part]) => text.replace(mark, () => part), read("src/index.html"));
writeFileSync(page, html);
