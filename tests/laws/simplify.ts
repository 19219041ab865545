import type { Body, Program, Statement } from "./program.ts";

/**
 * Makes a failing program smaller by what values alone cannot: it takes statements out, and blocks
 * from around their bodies, as long as `fails` still says so.
 */
export async function simplify(
  program: Program,
  fails: (program: Program) => Promise<boolean>,
): Promise<Program> {
  for (const body of smallerBodies(program.body)) {
    const smaller = { ...program, body };
    if (await fails(smaller)) return simplify(smaller, fails);
  }
  return program;
}

function* smallerBodies(body: Body): Generator<Body> {
  for (const [i, statement] of body.entries()) {
    for (const put of smallerStatements(statement)) yield body.toSpliced(i, 1, ...put);
  }
}

/** What may stand in the place of a statement. */
function* smallerStatements(statement: Statement): Generator<Body> {
  yield [];
  if (statement.do === "all") {
    const { branches } = statement;
    for (const { body } of branches) yield body;
    for (const [i, branch] of branches.entries()) {
      if (branches.length > 1) yield [{ ...statement, branches: branches.toSpliced(i, 1) }];
      for (const body of smallerBodies(branch.body)) {
        yield [{ ...statement, branches: branches.with(i, { ...branch, body }) }];
      }
    }
  } else if ("body" in statement) {
    // What is done later may await; the function that it is in perhaps not.
    if (statement.do !== "later") yield statement.body;
    for (const body of smallerBodies(statement.body)) yield [{ ...statement, body }];
  }
}
