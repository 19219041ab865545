/** A line chart as SVG: values over their index, from 0. */
export interface Line {
  readonly name: string;
  readonly color: string;
  /** As SVG has it; `"none"` for a full line. */
  readonly dashes: string;
  readonly values: readonly number[];
}

const [WIDTH, HEIGHT] = [640, 360];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, WIDTH - 16, 44, HEIGHT - 44];

export function drawChart(title: string, xLabel: string, lines: readonly Line[]): string {
  const highest = Math.max(...lines.flatMap(({ values }) => values));
  const steps = lines[0].values.length - 1;
  const x = (index: number) => (LEFT + index / steps * (RIGHT - LEFT)).toFixed(1);
  const y = (value: number) => (BOTTOM - value / highest * (BOTTOM - TOP)).toFixed(1);
  const text = (left: number | string, top: number | string, anchor: string, content: string) =>
    `<text x="${left}" y="${top}" text-anchor="${anchor}">${content}</text>`;

  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => part * highest).map((value) =>
    `<line x1="${LEFT}" x2="${RIGHT}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>` +
    text(LEFT - 8, y(value), "end", value.toFixed(2))
  );
  const marks = [0, steps].map((step) => text(x(step), BOTTOM + 18, "middle", String(step)));
  const curves = lines.map(({ name, color, dashes, values }, index) => {
    const style = `fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="${dashes}"`;
    const points = values.map((value, step) => `${x(step)},${y(value)}`).join(" ");
    const top = TOP + 16 + index * 20;
    return `<polyline ${style} points="${points}"/>` +
      `<line ${style} x1="${RIGHT - 174}" x2="${RIGHT - 144}" y1="${top}" y2="${top}"/>` +
      text(RIGHT - 136, top + 4, "start", name);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
    `font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(WIDTH / 2, 24, "middle", title),
    ...grid,
    ...marks,
    text(WIDTH / 2, HEIGHT - 8, "middle", xLabel),
    ...curves,
    "</svg>\n",
  ].join("\n");
}
