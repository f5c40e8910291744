// The simulator in WebAssembly: a request goes in as JSON, an answer comes out as JSON.

import type { Request } from "./protocol";

interface Exports {
  memory: WebAssembly.Memory;
  pushout_input(length: number): number;
  pushout_answer(): number;
  pushout_output(): number;
}

export class Engine {
  private constructor(private readonly exports: Exports) {}

  /** The engine from its module. */
  static async of(module: WebAssembly.Module): Promise<Engine> {
    const { exports } = await WebAssembly.instantiate(module, {});
    return new Engine(exports as unknown as Exports);
  }

  /** The answer to a request, as text. */
  ask(request: Request): string {
    const { memory, pushout_input, pushout_answer, pushout_output } = this.exports;
    const octets = new TextEncoder().encode(JSON.stringify(request));
    const place = unsigned(pushout_input(octets.length));
    new Uint8Array(memory.buffer, place, octets.length).set(octets);
    const length = unsigned(pushout_answer());
    return new TextDecoder().decode(new Uint8Array(memory.buffer, unsigned(pushout_output()), length));
  }
}

/** An address or a length of the engine: exports are signed, so those of 2 GiB and more arrive as negative numbers. */
export function unsigned(value: number): number {
  return value >>> 0;
}

/** The letters that `build.mjs` writes for the digits of base 85. */
const LETTERS = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).filter((letter) => !"\"&'<>\\`,;".includes(letter));

/** The octets of a text in base 85: their number, then five letters for every four. */
function decoded(text: string): Uint8Array<ArrayBuffer> {
  const digits = new Uint8Array(127);
  LETTERS.forEach((letter, digit) => (digits[letter.charCodeAt(0)] = digit));
  const [length = "0", letters = ""] = text.split(" ");
  const words = new DataView(new ArrayBuffer((letters.length / 5) * 4));
  for (let at = 0; at * 5 < letters.length; at += 1) {
    let word = 0;
    for (let place = 0; place < 5; place += 1) word = word * 85 + (digits[letters.charCodeAt(at * 5 + place)] ?? 0);
    words.setUint32(at * 4, word);
  }
  return new Uint8Array(words.buffer, 0, Number(length));
}

/** A module that was deflated and written in base 85. */
export async function unpacked(text: string): Promise<ArrayBuffer> {
  const octets = decoded(text);
  const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}
