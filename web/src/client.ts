// The engine as the page sees it: a question now, an answer later.

import { decoded } from "./decode";
import type { Answer, Call, Difference, Entry, EventName, Opened, Picture, Request, ScenarioText, SentPicture, Start } from "./protocol";

interface Waiting {
  resolve(answer: unknown): void;
  reject(why: Error): void;
}

export class Client {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;
  /** How often the engine has stopped; the runs that it had are gone. */
  stops = 0;

  /** A worker with this script and this engine, both from the page itself, so that a page from a file has one as well. */
  constructor(script: string, engine: string) {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.answered(data);
    this.worker.onerror = ({ message }) => this.fail(`the engine has stopped: ${message}`);
    this.worker.postMessage({ start: engine } satisfies Start);
  }

  open(scenario: ScenarioText, port?: string): Promise<Opened> {
    return this.ask<Opened>({ do: "open", ...scenario, ...(port === undefined ? {} : { port }) });
  }

  async go(handle: number, to: number, have: number): Promise<Picture> {
    return decoded(await this.ask<SentPicture>({ do: "go", handle, to: Math.round(to), have }));
  }

  /** The instant just behind the next event of a kind; none if none follows. */
  async when(handle: number, event: EventName): Promise<number | null> {
    return (await this.ask<{ time: number | null }>({ do: "when", handle, event })).time;
  }

  close(handle: number): Promise<unknown> {
    return this.ask({ do: "close", handle });
  }

  difference(a: number, b: number): Promise<Difference> {
    return this.ask<Difference>({ do: "difference", a, b });
  }

  /** A scenario with its overrides, as a file of its own. */
  async toml(scenario: ScenarioText): Promise<string> {
    return (await this.ask<{ text: string }>({ do: "toml", ...scenario })).text;
  }

  policies(): Promise<Entry[]> {
    return this.ask<Entry[]>({ do: "policies" });
  }

  private ask<T>(request: Request): Promise<T> {
    this.asked += 1;
    const call: Call = { id: this.asked, request };
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(call.id, { resolve: (answer) => resolve(answer as T), reject });
      this.worker.postMessage(call);
    });
  }

  private answered({ id, answer, error, stopped }: Answer): void {
    if (stopped) this.stops += 1;
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(stopped ? `${error}. Choose an experiment to go on.` : error));
  }

  private fail(why: string): void {
    for (const { reject } of this.waiting.values()) reject(new Error(why));
    this.waiting.clear();
  }
}
