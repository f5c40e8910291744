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
  static async of(module: BufferSource): Promise<Engine> {
    const { instance } = await WebAssembly.instantiate(module, {});
    return new Engine(instance.exports as unknown as Exports);
  }

  /** The answer to a request, as text. */
  ask(request: Request): string {
    const { memory, pushout_input, pushout_answer, pushout_output } = this.exports;
    const octets = new TextEncoder().encode(JSON.stringify(request));
    const place = pushout_input(octets.length);
    new Uint8Array(memory.buffer, place, octets.length).set(octets);
    const length = pushout_answer();
    return new TextDecoder().decode(new Uint8Array(memory.buffer, pushout_output(), length));
  }
}

/** A module that was deflated and written in base64. */
export async function unpacked(base64: string): Promise<ArrayBuffer> {
  const octets = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}
