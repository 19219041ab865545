import { onMisuse } from "@thread-local/core";
import fc from "fast-check";
import { EDITED_SLOTS } from "./edits.ts";
import { execute } from "./interpreter.ts";
import { list, listStatement } from "./listing.ts";
import { type Expectation, predict } from "./model.ts";
import { type Program, program } from "./program.ts";
import type { Reading, Trace } from "./scope.ts";
import { simplify } from "./simplify.ts";

/** So many programs run at once: each of them must not notice. */
const TOGETHER = 50;

/** What a check came to. */
export interface Verdict {
  readonly programs: number;
  readonly reads: number;
  readonly reports: number;
}

/**
 * Compares random programs with the model, all their reads and all reports of misuse.
 *
 * @param programs How many; rounded up to whole groups that run together.
 * @param onGroup Called after each group with the count so far.
 * @throws {Error} At the first that differs, with the program made small, and the seed.
 */
export async function check(
  programs: number,
  seed: number,
  onGroup: (programs: number) => void = () => {},
): Promise<Verdict> {
  const verdict = { programs: 0, reads: 0, reports: 0 };
  // Reports come with a stack, which is not compared, and costs as much as all the rest.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 1;
  const group = fc.array(program, { minLength: TOGETHER, maxLength: TOGETHER });
  const details = await fc.check(
    fc.asyncProperty(group, async (group) => {
      const { reads, reports } = await compare(group);
      verdict.programs += group.length;
      verdict.reads += reads;
      verdict.reports += reports;
      onGroup(verdict.programs);
    }),
    { seed, numRuns: Math.ceil(programs / TOGETHER) },
  );
  Error.stackTraceLimit = stackTraceLimit;
  if (details.failed) {
    const failing = details.counterexample![0].filter(({ body }) => body.length > 0);
    // It takes more than one program where one disturbs another.
    const small = failing.length === 1
      ? [await simplify(failing[0], async (program) => await difference([program]) !== undefined)]
      : failing;
    throw new Error(
      `A program differs from the model (seed ${seed}).\n\n${small.map(list).join("\n\n")}\n\n` +
        (await difference(small) ?? (details.errorInstance as Error)).message,
    );
  }
  return verdict;
}

async function difference(programs: readonly Program[]): Promise<Error | undefined> {
  try {
    await compare(programs);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** Runs programs together, each against its prediction. */
export async function compare(
  programs: readonly Program[],
): Promise<{ reads: number; reports: number }> {
  const predictions = programs.map(predict);
  const reports: string[] = [];
  using _ = onMisuse(({ kind, key }) =>
    reports.push(`${kind} of ${key?.replace(/late\.\d+/, "late") ?? "a state"}`)
  );
  const traces = await Promise.all(programs.map(execute));
  // The last turn's report comes in a microtask.
  await undefined;
  let reads = 0;
  traces.forEach((trace, i) => reads += compareTraces(trace, predictions[i].trace));
  compareReports(reports, predictions);
  return { reads, reports: reports.length };
}

/** @returns How many reads were compared. */
function compareTraces(actual: Trace, expected: Trace): number {
  let reads = 0;
  expected.forEach((reading, i) => {
    const other = actual[i];
    if (Array.isArray(reading)) {
      reads += compareTraces(other as Trace, reading);
      return;
    }
    if (Array.isArray(other) || other?.after !== reading.after) {
      throw new Error(`It did not come to:\n${listStatement(reading.after)}`);
    }
    reading.reads.forEach((read, j) => {
      if (Object.is(read, other.reads[j])) return;
      throw new Error(
        `After:\n${listStatement(reading.after)}\n\n${nameOf(reading, j)} should be ${read} ` +
          `and is ${other.reads[j]}`,
      );
    });
    reads += reading.reads.length;
  });
  if (actual.length > expected.length) throw new Error("It went on after it should have thrown");
  return reads;
}

/** A reading is of every slot, whether it is bound and its value; of a state, its size before. */
function nameOf({ reads }: Reading, index: number): string {
  const inSlots = index - reads.length % 2;
  if (inSlots < 0) return "The size of the state";
  const slot = Math.floor(inSlots / 2);
  const edited = slot - (Math.floor(reads.length / 2) - EDITED_SLOTS.length);
  return `${inSlots % 2 === 0 ? "isBound()" : "get()"} of ${
    edited < 0 ? `slot${slot}` : EDITED_SLOTS[edited].key
  }`;
}

function compareReports(actual: readonly string[], predictions: readonly Expectation[]): void {
  const expected = predictions.flatMap(({ reports }) => reports).sort().join("\n");
  const sorted = actual.toSorted().join("\n");
  if (sorted !== expected) {
    throw new Error(`It should report:\n${expected}\n\nand reports:\n${sorted}`);
  }
}
