import {
  type Body,
  type How,
  PALETTES,
  type Pick,
  type Program,
  type Statement,
  type Target,
  type Value,
} from "./program.ts";

/**
 * Writes a program as the code that it stands for. Slots are counted from the first and round
 * again, states and guards back from the last, as {@linkcode Pick} says.
 */
export function list({ slots, body }: Program): string {
  const numbers = PALETTES[slots];
  return [
    `// slot0 … slot${numbers.length - 1} are the slots ${numbers.join(", ")} of the isolate`,
    ...lines(body),
  ].join("\n");
}

/** One statement, with what is in it. */
export function listStatement(statement: Statement): string {
  return lines([statement]).join("\n");
}

function lines(body: Body): string[] {
  return body.flatMap(linesOf);
}

function linesOf(statement: Statement): string[] {
  switch (statement.do) {
    case "set":
      return [`${slot(statement.slot)}.set(${value(statement.value)});`];
    case "set all":
      return [`all slots: set(${statement.value} + i);`];
    case "clear":
      return [`${slot(statement.slot)}.clear();`];
    case "declare":
      return [`new slot;`];
    case "save":
      return [`save();`];
    case "with":
      return [
        `${state(statement.state)}.with(${slot(statement.slot)}, ${value(statement.value)});`,
      ];
    case "without":
      return [`${state(statement.state)}.without(${slot(statement.slot)});`];
    case "pick":
    case "omit":
      return [
        `${state(statement.state)}.${statement.do}(${statement.slots.map(slot).join(", ")});`,
      ];
    case "restore":
      return [`restore(${state(statement.state)}, "${statement.mode}");`];
    case "create":
      return [`${guard(statement.target, false)}; // without "using"`];
    case "open":
      return [`new DisposableStack().use(${guard(statement.target, statement.async)});`];
    case "guard":
      return block(`{ using _ = ${guard(statement.target, statement.async)};`, statement.body, "}");
    case "close":
      return [`close guard ${fromLast(statement.guard)};`];
    case "call": {
      const { async, how, body } = statement;
      return async
        ? block(`await ${call(how)}async () => {`, body, "});")
        : block(`${call(how)}() => {`, body, "});");
    }
    case "all":
      return [
        "await Promise.all([",
        ...statement.branches.flatMap(({ how, body }) =>
          block(`${call(how)}async () => {`, body, "}),").map(indent)
        ),
        "]);",
      ];
    case "later":
      return block(
        statement.on === "timer" ? "setTimeout(async () => {" : "queueMicrotask(async () => {",
        statement.body,
        "});",
      );
    case "await":
      return [`await ${statement.on};`];
    case "try":
      return block("try {", statement.body, "} catch {}");
    case "throw":
      return [`throw new Error();`];
  }
}

function block(first: string, body: Body, last: string): string[] {
  return [first, ...lines(body).map(indent), last];
}

function indent(line: string): string {
  return `  ${line}`;
}

function call(how: How): string {
  switch (how.by) {
    case "plain":
      return "call(";
    case "scoped":
    case "detached":
      return `${how.by}(`;
    case "run":
      return `${slot(how.slot)}.run(${value(how.value)}, `;
    case "state.run":
      return `${state(how.state)}.run(`;
    case "edit":
      return `under ${how.edit}: (`;
  }
}

function guard(target: Target, async: boolean): string {
  if (target.binds === "slot") {
    const bound = value(target.value);
    return async
      ? `await ${slot(target.slot)}.enter(${bound})`
      : `${slot(target.slot)}.with(${bound})`;
  }
  if (target.binds === "edit") return async ? `await enter ${target.edit}` : `new ${target.edit}`;
  const bound = state(target.state);
  return async
    ? `await ThreadLocalStateGuard.enter(${bound})`
    : `new ThreadLocalStateGuard(${bound})`;
}

function slot(pick: Pick): string {
  return `slot${pick}`;
}

function state(pick: Pick): string {
  return `state(${fromLast(pick)})`;
}

function fromLast(pick: Pick): string {
  return `${-1 - pick}`;
}

function value(bound: Value): string {
  return String(bound);
}
