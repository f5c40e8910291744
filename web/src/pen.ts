// What draws a picture: on a canvas, or as SVG. Both know the same few strokes, so that an exported picture is the one on the screen.

export type Align = "start" | "middle" | "end";

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  /** Lines across a rectangle, from its lower left to its upper right. */
  hatch(x: number, y: number, width: number, height: number, stroke: string): void;
  text(x: number, y: number, words: string, fill: string, align?: Align, size?: number): void;
  path(points: [number, number][], stroke: string, width: number, dash?: number[]): void;
}

const FONT = "system-ui, sans-serif";
const TILE = 6;

export class CanvasPen implements Pen {
  private readonly patterns = new Map<string, CanvasPattern | null>();

  constructor(private readonly to: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.to.fillStyle = fill;
    this.to.fillRect(x, y, width, height);
  }

  hatch(x: number, y: number, width: number, height: number, stroke: string): void {
    if (!this.patterns.has(stroke)) this.patterns.set(stroke, this.to.createPattern(hatching(stroke), "repeat"));
    const pattern = this.patterns.get(stroke);
    if (!pattern) return;
    this.to.fillStyle = pattern;
    this.to.fillRect(x, y, width, height);
  }

  text(x: number, y: number, words: string, fill: string, align: Align = "start", size = 12): void {
    this.to.font = `${size}px ${FONT}`;
    this.to.textAlign = align === "middle" ? "center" : align;
    this.to.fillStyle = fill;
    this.to.fillText(words, x, y);
  }

  path(points: [number, number][], stroke: string, width: number, dash: number[] = []): void {
    this.to.strokeStyle = stroke;
    this.to.lineWidth = width;
    this.to.setLineDash(dash);
    this.to.beginPath();
    for (const [x, y] of points) this.to.lineTo(x, y);
    this.to.stroke();
    this.to.setLineDash([]);
  }
}

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private readonly tiles = new Set<string>();

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`);
  }

  hatch(x: number, y: number, width: number, height: number, stroke: string): void {
    this.tiles.add(stroke);
    this.rect(x, y, width, height, `url(#hatch${tile(stroke)})`);
  }

  text(x: number, y: number, words: string, fill: string, align: Align = "start", size = 12): void {
    const place = `x="${short(x)}" y="${short(y)}" font-size="${size}" text-anchor="${align}"`;
    this.parts.push(`<text ${place} fill="${fill}">${escaped(words)}</text>`);
  }

  path(points: [number, number][], stroke: string, width: number, dash: number[] = []): void {
    const line = points.map(([x, y]) => `${short(x)},${short(y)}`).join(" ");
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.parts.push(`<polyline points="${line}" fill="none" stroke="${stroke}" stroke-width="${width}"${dashes}/>`);
  }

  /** The picture as a file. */
  written(): string {
    const { width, height } = this;
    const tiles = [...this.tiles].map(
      (stroke) =>
        `<pattern id="hatch${tile(stroke)}" width="${TILE}" height="${TILE}" patternUnits="userSpaceOnUse">` +
        `<path d="M-1 1L1 -1M0 ${TILE}L${TILE} 0M${TILE - 1} ${TILE + 1}L${TILE + 1} ${TILE - 1}" stroke="${stroke}" stroke-width="2"/></pattern>`,
    );
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}">` +
      `<defs>${tiles.join("")}</defs>\n${this.parts.join("\n")}\n</svg>\n`
    );
  }
}

const short = (value: number): string => String(Number(value.toFixed(2)));
const tile = (stroke: string): string => stroke.replace(/[^a-z0-9]/gi, "");

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function hatching(stroke: string): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = TILE;
  const pen = canvas.getContext("2d");
  if (pen) {
    pen.strokeStyle = stroke;
    pen.lineWidth = 2;
    pen.beginPath();
    for (const shift of [-TILE, 0, TILE]) {
      pen.moveTo(shift, TILE);
      pen.lineTo(shift + TILE, 0);
    }
    pen.stroke();
  }
  return canvas;
}
