// Write the page as one file: build.mjs ENGINE.wasm LAB.html. The same input gives the same bytes.

import { readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { build } from "esbuild";
import { experiments, scenario } from "./presets.mjs";

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

/** 85 letters that HTML leaves as they are. */
const LETTERS = [...Array(94).keys()].map((at) => String.fromCharCode(33 + at)).filter((letter) => !"\"&'<>\\`,;".includes(letter)).join("");

/** As JSON inside a script element, which nothing in it ends. */
const json = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
const script = (text) => text.replaceAll("</script", "<\\/script");

/** Five letters for four octets, which is a sixteenth less than base64; `unpacked` in src/engine.ts reads them. */
function base85(octets) {
  const whole = Buffer.concat([octets, Buffer.alloc((4 - (octets.length % 4)) % 4)]);
  const letters = [];
  for (let at = 0; at < whole.length; at += 4) {
    let word = whole.readUInt32BE(at);
    const group = [];
    for (let place = 0; place < 5; place++) {
      group.unshift(LETTERS[word % 85]);
      word = Math.floor(word / 85);
    }
    letters.push(...group);
  }
  return `${octets.length} ${letters.join("")}`;
}

const offers = experiments();
const style = read("node_modules/uplot/dist/uPlot.min.css") + read("src/style.css");
const parts = {
  "/*style*/": style,
  "/*presets*/": json(offers),
  "/*texts*/": json(Object.fromEntries(offers.map(({ file }) => [file, scenario(file)]))),
  "/*worker*/": json(await bundled("src/worker.ts")),
  "/*engine*/": base85(deflateRawSync(readFileSync(engine), { level: 9 })),
  "/*main*/": script(await bundled("src/main.ts")),
};
const html = Object.entries(parts).reduce((text, [mark, part]) => text.replace(mark, () => part), read("src/index.html"));
writeFileSync(page, html);
