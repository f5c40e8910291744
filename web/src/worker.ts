// The engine at work beside the page, so that the page never waits for it.

import { Engine } from "./engine";
import type { Answer, Call, Start } from "./protocol";

/** Long lists of an answer, which are handed over and not copied. */
interface Lists {
  units?: ArrayLike<number>;
  records?: ArrayLike<number>;
}

let engine: Promise<Engine> | undefined;

async function answer({ id, request }: Call): Promise<Answer> {
  try {
    if (!engine) throw new Error("the engine has not been started");
    const answer = JSON.parse((await engine).ask(request)) as { error?: string } & Lists;
    for (const list of ["units", "records"] as const) {
      const numbers = answer[list];
      if (numbers) answer[list] = Float64Array.from(numbers);
    }
    return answer.error === undefined ? { id, answer } : { id, error: answer.error };
  } catch (why) {
    return { id, error: `the engine has stopped: ${String(why)}`, stopped: true };
  }
}

self.onmessage = async ({ data }: MessageEvent<Start | Call>) => {
  if ("start" in data) {
    engine = Engine.of(data.start);
    return;
  }
  const given = await answer(data);
  const { units, records } = (given.answer ?? {}) as Lists;
  const buffers = [units, records].flatMap((list) => (list instanceof Float64Array ? [list.buffer] : []));
  self.postMessage(given, { transfer: buffers });
};
