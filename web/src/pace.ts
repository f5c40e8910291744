// How fast time passes on the page: slow by itself around a loss, a mark or a pause, and fast between.

/** Milliseconds of slow motion after an event, and before the next one is slow again. */
const [SLOW, FAST] = [1200, 3000];
/** The share of the speed in slow motion. */
const SHARE = 0.2;

export class Pace {
  /** Simulated seconds in a second. */
  base = 1e-3;
  private until = -Infinity;
  private events = 0;

  /** Count events so far: new ones are worth a look, unless others have just been. */
  see(events: number, now: number): void {
    const isNew = events !== this.events;
    this.events = events;
    if (isNew && now > this.until + FAST) this.until = now + SLOW;
  }

  /** Begin somewhere else: these events are not new. */
  rest(events: number): void {
    this.events = events;
    this.until = -Infinity;
  }

  isSlow(now: number): boolean {
    return now < this.until;
  }

  /** Simulated seconds in a second at this moment. */
  at(now: number): number {
    return this.isSlow(now) ? this.base * SHARE : this.base;
  }
}
