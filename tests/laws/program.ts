import fc from "fast-check";

/** What is bound: never negative, so that it cannot be taken for an initial value. */
export type Value = number | undefined;

/**
 * A number that picks one of what the program has: a slot counted from the first, a state or an
 * open guard counted back from the last. Where there is none to pick, the statement does nothing.
 */
export type Pick = number;

/** PyTorch's guards: they edit what a slot holds already. */
export const EDIT_NAMES = [
  "AutoGradMode(false)",
  "AutoGradMode(true)",
  "NoGradGuard()",
  "EnableGradGuard()",
  "AutoFwGradMode(false)",
  "InferenceMode(true)",
  "InferenceMode(false)",
  "IncludeDispatchKeyGuard(Tracer, ADInplaceOrView)",
  "ExcludeDispatchKeyGuard(Tracer, ADInplaceOrView)",
  "DebugInfoGuard(TEST_INFO)",
  "DebugInfoGuard(TEST_INFO_2)",
  "DisableRecordFunctionGuard()",
] as const;

export type EditName = typeof EDIT_NAMES[number];

/** What a guard binds: a slot, or a whole state; or what it edits. */
export type Target =
  | { readonly binds: "slot"; readonly slot: Pick; readonly value: Value }
  | { readonly binds: "state"; readonly state: Pick }
  | { readonly binds: "edit"; readonly edit: EditName };

/** How a function is called. A plain call shares its synchronous part with the caller. */
export type How =
  | { readonly by: "plain" | "scoped" | "detached" }
  | { readonly by: "run"; readonly slot: Pick; readonly value: Value }
  | { readonly by: "state.run"; readonly state: Pick }
  | { readonly by: "edit"; readonly edit: EditName };

/** What a flow waits for. */
export type Event = "microtask" | "timer";

/**
 * One step of a function. What a guard or a saved state is made in, its function or one that it
 * calls and waits for, can use it; branches and what is done later have guards of their own.
 */
export type Statement =
  | { readonly do: "set"; readonly slot: Pick; readonly value: Value }
  | { readonly do: "set all"; readonly value: number }
  | { readonly do: "clear"; readonly slot: Pick }
  | { readonly do: "declare" }
  | { readonly do: "save" }
  | Edit
  | { readonly do: "restore"; readonly state: Pick; readonly mode: "replace" | "merge" }
  | { readonly do: "guard"; readonly async: boolean; readonly target: Target; readonly body: Body }
  | { readonly do: "open"; readonly async: boolean; readonly target: Target }
  | { readonly do: "create"; readonly target: Target }
  | { readonly do: "close"; readonly guard: Pick }
  | { readonly do: "call"; readonly async: boolean; readonly how: How; readonly body: Body }
  | { readonly do: "all"; readonly branches: readonly Branch[] }
  | { readonly do: "later"; readonly on: Event; readonly body: Body }
  | { readonly do: "await"; readonly on: Event }
  | { readonly do: "try"; readonly body: Body }
  | { readonly do: "throw" };

/** Makes a new state of a saved one. */
export type Edit =
  | { readonly do: "with"; readonly state: Pick; readonly slot: Pick; readonly value: Value }
  | { readonly do: "without"; readonly state: Pick; readonly slot: Pick }
  | { readonly do: "pick" | "omit"; readonly state: Pick; readonly slots: readonly Pick[] };

export type Body = readonly Statement[];

export interface Branch {
  readonly how: How;
  readonly body: Body;
}

/** A program, an async function, and the slots that it knows from the beginning. */
export interface Program {
  readonly slots: Palette;
  readonly body: Body;
}

/**
 * The slots of a program, by their number in the order of declaration. A frame has a place for each
 * of the first 16, later ones share places by 32: each program works at one of the seams, with so
 * few slots that its statements meet. The last palette has all of them, the seams in front.
 */
export const PALETTES = {
  flat: [0, 1, 2, 3, 4],
  "flat and first chunk": [14, 15, 16, 17, 18],
  "first and second chunk": [46, 47, 48, 49, 50],
  wide: [...new Set([0, 15, 16, 47, 48, ...Array(64).keys()])],
};

export type Palette = keyof typeof PALETTES;

const value: fc.Arbitrary<Value> = fc.option(fc.nat(99), { nil: undefined, freq: 9 });
const slot = fc.nat(6);
const slots = fc.array(slot, { maxLength: 3 });
const recent = fc.nat(3);
const event: fc.Arbitrary<Event> = fc.constantFrom("microtask", "timer");

const edit = fc.constantFrom(...EDIT_NAMES);

const target: fc.Arbitrary<Target> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ binds: fc.constant("slot"), slot, value }) },
  { weight: 1, arbitrary: fc.record({ binds: fc.constant("state"), state: recent }) },
  { weight: 2, arbitrary: fc.record({ binds: fc.constant("edit"), edit }) },
);

const how: fc.Arbitrary<How> = fc.oneof(
  fc.record({ by: fc.constantFrom("plain", "scoped", "detached") }),
  fc.record({ by: fc.constant("run"), slot, value }),
  fc.record({ by: fc.constant("state.run"), state: recent }),
  fc.record({ by: fc.constant("edit"), edit }),
);

/** Statements that any function may have. */
const simple: fc.Arbitrary<Statement> = fc.oneof(
  weighted(6, { do: fc.constant("set"), slot, value }),
  weighted(1, { do: fc.constant("set all"), value: fc.nat(40) }),
  weighted(2, { do: fc.constant("clear"), slot }),
  weighted(1, { do: fc.constant("declare") }),
  weighted(4, { do: fc.constant("save") }),
  weighted(1, { do: fc.constant("with"), state: recent, slot, value }),
  weighted(1, { do: fc.constant("without"), state: recent, slot }),
  weighted(2, { do: fc.constantFrom("pick", "omit"), state: recent, slots }),
  weighted(3, {
    do: fc.constant("restore"),
    state: recent,
    mode: fc.constantFrom("replace", "merge"),
  }),
  weighted(6, { do: fc.constant("open"), async: fc.constant(false), target }),
  weighted(1, { do: fc.constant("create"), target }),
  weighted(8, { do: fc.constant("close"), guard: recent }),
  weighted(1, { do: fc.constant("throw") }),
);

/** Statements that only an async function may have. */
const simpleAsync: fc.Arbitrary<Statement> = fc.oneof(
  weighted(2, { do: fc.constant("await"), on: event }),
  weighted(1, { do: fc.constant("open"), async: fc.constant(true), target }),
);

function weighted(
  weight: number,
  fields: { [K in string]: fc.Arbitrary<unknown> },
): fc.WeightedArbitrary<Statement> {
  return { weight, arbitrary: fc.record(fields) as fc.Arbitrary<Statement> };
}

function bodyOf(...statements: fc.WeightedArbitrary<Statement>[]): fc.Arbitrary<Body> {
  // The first is all that remains at the greatest depth.
  return fc.array(fc.oneof({ maxDepth: 3, depthSize: "max" }, ...statements), {
    maxLength: 7,
    size: "max",
  });
}

const { body } = fc.letrec<{ syncBody: Body; body: Body }>((tie) => {
  const syncBody = tie("syncBody");
  const body = tie("body");
  const syncCall = weighted(3, {
    do: fc.constant("call"),
    async: fc.constant(false),
    how,
    body: syncBody,
  });
  const later = weighted(1, { do: fc.constant("later"), on: event, body });
  const branch = fc.record({ how, body });
  const branches = fc.array(branch, { minLength: 1, maxLength: 3 });
  return {
    syncBody: bodyOf(
      { weight: 24, arbitrary: simple },
      weighted(3, { do: fc.constant("guard"), async: fc.constant(false), target, body: syncBody }),
      weighted(1, { do: fc.constant("try"), body: syncBody }),
      syncCall,
      later,
    ),
    body: bodyOf(
      { weight: 24, arbitrary: simple },
      { weight: 8, arbitrary: simpleAsync },
      weighted(4, { do: fc.constant("guard"), async: fc.boolean(), target, body }),
      weighted(2, { do: fc.constant("try"), body }),
      weighted(3, { do: fc.constant("call"), async: fc.constant(true), how, body }),
      weighted(3, { do: fc.constant("all"), branches }),
      syncCall,
      later,
    ),
  };
});

/** Any program. */
export const program: fc.Arbitrary<Program> = fc.record({
  slots: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("flat", "flat and first chunk") },
    { weight: 2, arbitrary: fc.constant("first and second chunk") },
    { weight: 1, arbitrary: fc.constant("wide") },
  ) as fc.Arbitrary<Palette>,
  body,
});
