import { PLACES } from "./log_line.ts";
import { REQUESTS, type Run } from "./run.ts";

/** The columns, each a run and its name. */
export type Columns = Readonly<Record<string, Run>>;

const LABEL = 28;
const CELL = 22;
const BAR = 14;
const RULE = `  ${"─".repeat(LABEL + 2 * CELL)}`;

/** Redraws itself in place on a terminal; elsewhere it prints plain lines, without control codes. */
export class LiveTable {
  private readonly inPlace = Deno.stdout.isTerminal();
  private readonly colors = this.inPlace && !Deno.noColor;
  private height = 0;
  private quarters = 0;

  constructor(private readonly columns: Columns) {}

  /** Shows how far the runs are. */
  update(): void {
    if (this.inPlace) this.draw();
    else this.printProgress();
  }

  /** Shows the results. */
  finish(): void {
    if (!this.inPlace) this.printProgress();
    this.draw();
  }

  private draw(): void {
    const up = this.height > 0 ? `\x1b[${this.height}A` : "";
    const lines = this.render();
    this.height = lines.length;
    console.log(up + lines.map((line) => this.inPlace ? `${line}\x1b[K` : line).join("\n"));
  }

  private printProgress(): void {
    const runs = Object.values(this.columns);
    const answered = runs.reduce((sum, run) => sum + run.answered, 0);
    const quarters = Math.floor(4 * answered / (runs.length * REQUESTS));
    if (quarters === this.quarters) return;
    this.quarters = quarters;
    console.log(`  ${count(answered)} of ${count(runs.length * REQUESTS)} requests answered`);
  }

  private render(): string[] {
    return [
      row("", Object.keys(this.columns)),
      RULE,
      this.row("requests answered", ({ answered }) => `${bar(answered)} ${count(answered)}`),
      this.row("log lines", ({ lines }) => count(lines)),
      this.row("  with the wrong user", ({ wrongUsers }) => this.wrong(wrongUsers)),
      ...PLACES.map((place) =>
        this.row(`    ${place}`, ({ places }) => this.wrong(places.get(place)?.wrong ?? 0))
      ),
      this.row("  with the wrong request", ({ wrongRequests }) => this.wrong(wrongRequests)),
      this.row("requests a second", ({ requestsPerSecond }) => count(requestsPerSecond)),
      RULE,
    ];
  }

  private row(label: string, cell: (run: Run) => string): string {
    return row(label, Object.values(this.columns).map(cell));
  }

  /** Colour is put on after the padding: its codes have no width. */
  private wrong(lines: number): string {
    const cell = count(lines).padStart(CELL);
    return this.colors ? `\x1b[${lines === 0 ? 32 : 31}m${cell}\x1b[39m` : cell;
  }
}

function row(label: string, cells: string[]): string {
  return `  ${label.padEnd(LABEL)}${cells.map((cell) => cell.padStart(CELL)).join("")}`;
}

function bar(answered: number): string {
  const full = Math.round(BAR * answered / REQUESTS);
  return "█".repeat(full) + "░".repeat(BAR - full);
}

function count(n: number): string {
  return Math.round(n).toLocaleString("en").padStart(5);
}
