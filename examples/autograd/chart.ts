/** A line chart as SVG. */

const WIDTH = 640;
const HEIGHT = 360;
const LEFT = 56;
const RIGHT = 16;
const TOP = 44;
const BOTTOM = 44;

export interface Line {
  readonly name: string;
  readonly color: string;
  /** As SVG has it; none for a full line. */
  readonly dashes?: string;
  readonly values: readonly number[];
}

/** Draws the lines over their index, the value axis from 0. */
export function drawChart(title: string, xLabel: string, lines: readonly Line[]): string {
  const highest = Math.max(...lines.flatMap(({ values }) => values));
  const steps = Math.max(...lines.map(({ values }) => values.length)) - 1;
  const x = (index: number) => LEFT + index / steps * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - value / highest * (HEIGHT - TOP - BOTTOM);
  const text = (at: [number, number], anchor: string, content: string, extra = "") =>
    `<text x="${at[0].toFixed(1)}" y="${
      at[1].toFixed(1)
    }" text-anchor="${anchor}" ${extra}>${content}</text>`;

  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const value = part * highest;
    return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${
      y(value)
    }" stroke="#ddd"/>` +
      text([LEFT - 8, y(value) + 4], "end", value.toFixed(2));
  });
  const marks = [0, 0.5, 1].map((part) =>
    text([x(part * steps), HEIGHT - BOTTOM + 18], "middle", String(Math.round(part * steps)))
  );
  const curves = lines.map(({ values, color, dashes }) =>
    `<polyline fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="${
      dashes ?? "none"
    }" points="${
      values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(" ")
    }"/>`
  );
  const legend = lines.map(({ name, color, dashes }, index) => {
    const top = TOP + 16 + index * 20;
    return `<line x1="${WIDTH - 190}" x2="${
      WIDTH - 160
    }" y1="${top}" y2="${top}" stroke="${color}" ` +
      `stroke-width="2" stroke-dasharray="${dashes ?? "none"}"/>` +
      text([WIDTH - 152, top + 4], "start", name);
  });

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text([WIDTH / 2, 24], "middle", title, `font-size="15"`),
    ...grid,
    ...marks,
    text([WIDTH / 2, HEIGHT - 8], "middle", xLabel),
    ...curves,
    ...legend,
    "</svg>\n",
  ].join("\n");
}
