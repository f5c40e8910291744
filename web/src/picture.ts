// Everything on the screen as one picture: each run with its strip, then the charts, then the commands that repeat the runs.

import { colour } from "./flow";
import type { Inks } from "./ink";
import type { Motion } from "./motion";
import { CanvasPen, type Pen, SvgPen } from "./pen";
import type { Run } from "./run";
import { type Chart, charts } from "./series";
import { Strip } from "./strip";
import { count, instant, seconds } from "./words";

export interface Shot {
  title: string;
  runs: Run[];
  /** What each run does. */
  labels: string[];
  motions: Motion[];
  /** What holds in each run, and its score: a line each. */
  facts: string[][];
  commands: string[];
  inks: Inks;
  /** The instant, on the clock of the run. */
  now: number;
  /** Only the strips and the charts beside the runs. */
  isBrief?: boolean;
}

/** Pixels of a picture, and of one that is printed small. */
const [WIDTH, NARROW] = [1200, 720];
const [PAD, LINE, CHART] = [20, 18, 210];
/** Pixels of a strip, and of one that is printed small. */
const [STRIP, LOW] = [190, 110];
const LETTERS = 165;
/** When all that moves on the page has come to its end: a picture has every loss up to its instant, whenever it is taken. */
const SETTLED = Infinity;

export function svg(shot: Shot): string {
  const pen = new SvgPen(width(shot), height(shot));
  draw(pen, shot);
  return pen.written();
}

/** A PNG file, twice as fine as the screen. */
export function png(shot: Shot): Promise<Blob> {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width(shot), 2 * height(shot)];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no canvas");
  context.scale(2, 2);
  draw(new CanvasPen(context), shot);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("this browser writes no PNG"))), "image/png");
  });
}

function height(shot: Shot): number {
  const texts = [...shot.facts.flat(), ...shot.commands].flatMap(wrapped).length;
  const rows = Math.ceil(shown(shot).length / 2);
  return 2 * PAD + 2 * LINE + shot.runs.length * (strip(shot) + LINE) + texts * LINE + rows * CHART + LINE;
}

function width({ isBrief }: Shot): number {
  return isBrief ? NARROW : WIDTH;
}

function strip({ isBrief }: Shot): number {
  return isBrief ? LOW : STRIP;
}

/** The charts of a picture. */
function shown({ runs, isBrief }: Shot): Chart[] {
  return charts(runs).filter(({ isMain }) => isMain || !isBrief);
}

function draw(pen: Pen, shot: Shot): void {
  const { runs, inks } = shot;
  const [wide, tall] = [width(shot), strip(shot)];
  pen.rect(0, 0, wide, height(shot), inks.panel);
  let y = PAD + LINE;
  const say = (text: string, size = 12) => {
    for (const line of wrapped(text)) {
      pen.text(PAD, y, line, inks.text, "start", size);
      y += LINE;
    }
  };
  if (shot.title) say(`${shot.title}, ${instant(shot.now)}`, 15);
  runs.forEach((run, at) => {
    pen.rect(PAD, y - LINE + 4, 6, LINE, colour(at === 0 ? 0 : 5)); // as its line in the charts
    pen.text(PAD + 12, y, `${"AB"[at]}  ${shot.labels[at]}, port ${run.port.name}`, inks.text, "start", 14);
    y += LINE;
    const motion = shot.motions[at];
    if (motion) new Strip(shifted(pen, PAD, y - LINE + 4), run, inks, wide - 2 * PAD, tall).draw(motion, SETTLED);
    y += tall;
    shot.facts[at]?.forEach((fact) => say(fact));
  });
  shown(shot).forEach((each, at) => {
    const x = PAD + (at % 2) * (wide / 2 - PAD / 2);
    chart(shifted(pen, x, y + Math.floor(at / 2) * CHART), each, shot);
  });
  y += Math.ceil(shown(shot).length / 2) * CHART + LINE;
  shot.commands.forEach((command) => say(command));
}

/** Axes, a line for every series up to the instant, and their names. */
function chart(pen: Pen, { title, lines }: Chart, shot: Shot): void {
  const { inks, now, runs } = shot;
  const [left, top, wide, tall] = [64, 24, width(shot) / 2 - 2 * PAD - 64, CHART - 74];
  const series = lines.map((line) => {
    const rows = line.run.rows.filter(({ time }) => time <= now);
    return { ...line, rows, ys: line.values(rows) };
  });
  const end = Math.max(1, ...runs.flatMap((run) => run.rows.filter(({ time }) => time <= now).map(({ time }) => time)));
  const most = Math.max(1, ...series.flatMap(({ ys }) => ys.map((y) => y ?? 0))) * 1.05;
  pen.text(0, 12, title, inks.text, "start", 13);
  for (const share of [0, 0.5, 1]) {
    const y = top + tall * (1 - share);
    pen.path([[left, y], [left + wide, y]], inks.room, 1);
    pen.text(left - 6, y + 4, count(Number((most * share).toPrecision(3))), inks.muted, "end", 11);
    pen.text(left + wide * share, top + tall + 15, `${Number(seconds(end * share).toPrecision(4))} s`, inks.muted, "middle", 11);
  }
  let [x, line] = [left, 0];
  for (const { label, stroke, dash, rows, ys } of series) {
    const points = rows.flatMap(({ time }, at): [number, number][] => {
      const y = ys[at];
      return typeof y === "number" ? [[left + (wide * time) / end, top + tall * (1 - y / most)]] : [];
    });
    if (points.length > 0) pen.path(points, stroke, 1.5, dash);
    const length = 32 + 6.5 * label.length;
    if (x > left && x + length > left + wide) [x, line] = [left, line + 1];
    const level = top + tall + 29 + 14 * line;
    pen.path([[x, level], [x + 16, level]], stroke, 2, dash);
    pen.text(x + 20, top + tall + 33 + 14 * line, label, inks.text, "start", 11);
    x += length;
  }
}

/** A pen whose origin is elsewhere. */
function shifted(pen: Pen, dx: number, dy: number): Pen {
  return {
    rect: (x, y, ...rest) => pen.rect(x + dx, y + dy, ...rest),
    hatch: (x, y, ...rest) => pen.hatch(x + dx, y + dy, ...rest),
    text: (x, y, ...rest) => pen.text(x + dx, y + dy, ...rest),
    path: (points, ...rest) => pen.path(points.map(([x, y]) => [x + dx, y + dy]), ...rest),
  };
}

/** A text in lines that fit; a word of a command may be as long as a line. */
function wrapped(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length > LETTERS && line !== "") lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
