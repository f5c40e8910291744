// The engine as the page sees it: a question now, an answer later.

import { decoded } from "./decode";
import type { Answer, Call, Difference, Entry, EventName, Found, Opened, Picture, Question, Request, ScenarioText, SentPicture, Start, Why } from "./protocol";
import { Cancelled } from "./task";

interface Waiting {
  resolve(answer: unknown): void;
  reject(why: Error): void;
}

/** Starts engines, each in a worker of its own. */
export class Engines {
  private readonly address: string;

  /** Workers with this script and this engine, both from the page itself, so that a page from a file has them as well. */
  constructor(
    script: string,
    private readonly module: WebAssembly.Module,
  ) {
    this.address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  }

  start(): Client {
    return new Client(this.address, this.module);
  }
}

export class Client {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;
  /** Why the engine does not answer any more. */
  private ended: Error | undefined;

  constructor(address: string, module: WebAssembly.Module) {
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.answered(data);
    this.worker.onerror = ({ message }) => this.end(new Error(`the engine has stopped: ${message ?? "this page may start no worker"}`));
    this.worker.postMessage({ start: module } satisfies Start);
  }

  /** Throw the engine away with all that it does and has; what waits for it is cancelled. */
  stop(): void {
    this.end(new Cancelled("cancelled"));
  }

  open(scenario: ScenarioText, port?: string): Promise<Opened> {
    return this.ask<Opened>({ do: "open", ...scenario, ...(port === undefined ? {} : { port }) });
  }

  async go(handle: number, to: number, have: number): Promise<Picture> {
    return decoded(await this.ask<SentPicture>({ do: "go", handle, to: Math.round(to), have }));
  }

  /** Search for the next event of a kind up to an instant; a search that is continued goes on where it ended. */
  when(handle: number, event: EventName, until: number): Promise<Found> {
    return this.ask<Found>({ do: "when", handle, event, until: Math.round(until) });
  }

  difference(a: number, b: number, until: number): Promise<Difference> {
    return this.ask<Difference>({ do: "difference", a, b, until: Math.round(until) });
  }

  /** The document of a whole run. */
  run<T>(scenario: ScenarioText): Promise<T> {
    return this.ask<T>({ do: "run", ...scenario });
  }

  /** Which earlier decisions would have saved a frame. */
  why(scenario: ScenarioText, question: Question): Promise<Why> {
    return this.ask<Why>({ do: "why", ...scenario, question });
  }

  /** A scenario with its overrides, as a file of its own. */
  async toml(scenario: ScenarioText): Promise<string> {
    return (await this.ask<{ text: string }>({ do: "toml", ...scenario })).text;
  }

  policies(): Promise<Entry[]> {
    return this.ask<Entry[]>({ do: "policies" });
  }

  private ask<T>(request: Request): Promise<T> {
    if (this.ended) return Promise.reject(this.ended);
    this.asked += 1;
    const call: Call = { id: this.asked, request };
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(call.id, { resolve: (answer) => resolve(answer as T), reject });
      this.worker.postMessage(call);
    });
  }

  private answered({ id, answer, error, stopped }: Answer): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(stopped ? `${error}. Choose an experiment to go on.` : error));
    if (stopped) this.end(new Error("The engine has stopped. Choose an experiment to go on."));
  }

  private end(why: Error): void {
    this.worker.terminate();
    this.ended ??= why;
    for (const { reject } of this.waiting.values()) reject(why);
    this.waiting.clear();
  }
}
