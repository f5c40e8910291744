// The simulator in WebAssembly for tests without a browser: ENGINE names the module.

import { readFileSync } from "node:fs";

/** A function that answers requests, objects or texts, with a text. */
export async function engine() {
  const { instance } = await WebAssembly.instantiate(readFileSync(process.env.ENGINE), {});
  const { memory, pushout_input, pushout_answer, pushout_output } = instance.exports;
  return (request) => {
    const octets = new TextEncoder().encode(typeof request === "string" ? request : JSON.stringify(request));
    const place = pushout_input(octets.length) >>> 0;
    new Uint8Array(memory.buffer, place, octets.length).set(octets);
    const length = pushout_answer() >>> 0;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, pushout_output() >>> 0, length));
  };
}
