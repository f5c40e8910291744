// Work that takes time: how far it is, whether it is still wanted, and when it is so long that the page must ask first.

/** Milliseconds before the page shows that it works. */
export const NOTICE = 300;
/** Milliseconds of work after which a task with a limit has to be short, or is asked about. */
const TRIAL = 700;
/** The longest work, in milliseconds, that starts without a question. */
const UNASKED = 2000;
/** Picoseconds of the first part of a long way, in which even a run that is sampled all the time does little. */
const FIRST = 1e5;
/** Milliseconds for one request of a long way, so that it can be cancelled and shows progress. */
const SLICE = 60;

/** A task has been cancelled, or a newer one has taken its place. */
export class Cancelled extends Error {}

/** A task with a limit would take too long; `estimate` is in milliseconds, if it is known. */
export class TooLong extends Error {
  constructor(readonly estimate: number | undefined) {
    super("the task takes too long");
  }
}

export class Task {
  private readonly begun = performance.now();
  private isOver = false;
  private share: number | undefined;
  private readonly abandon: (() => void)[] = [];

  /** `asks` says whether long work is refused with `TooLong`. */
  constructor(
    readonly what: string,
    private readonly asks: boolean,
  ) {}

  /** Milliseconds since its start. */
  get age(): number {
    return performance.now() - this.begun;
  }

  /** The part that is done, from 0 to 1; undefined before the first report. */
  get progress(): number | undefined {
    return this.share;
  }

  cancel(): void {
    this.isOver = true;
    for (const act of this.abandon) act();
  }

  /** Call this if the task is cancelled. */
  onCancel(act: () => void): void {
    this.abandon.push(act);
  }

  /** Go on only if the task is still wanted, and short enough. */
  report(share: number): void {
    this.check();
    this.share = share;
    if (!this.asks || this.age < TRIAL) return;
    const estimate = this.age / Math.max(share, 1e-6);
    if (estimate > UNASKED) throw new TooLong(estimate);
  }

  check(): void {
    if (this.isOver) throw new Cancelled("cancelled");
  }

  /** An answer whose duration cannot be foreseen: a task with a limit waits for a trial only. */
  async within<T>(answer: Promise<T>): Promise<T> {
    if (!this.asks) return answer;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new TooLong(undefined)), Math.max(0, TRIAL - this.age));
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Go from one instant to another in parts that take about `SLICE` each; `step` goes to an instant and returns whether the
   * task has reached its aim before.
   */
  async slices(from: number, to: number, step: (until: number) => Promise<boolean>): Promise<void> {
    let [now, part] = [from, Math.min(FIRST, (to - from) / 1024)];
    while (now < to) {
      this.check();
      const [next, before] = [Math.min(to, now + part), performance.now()];
      if (await step(next)) return;
      const spent = Math.max(1, performance.now() - before);
      part *= Math.min(8, Math.max(0.125, SLICE / spent));
      now = next;
      this.report((now - from) / (to - from));
    }
  }
}
