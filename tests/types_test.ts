import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import {
  detached,
  type Guard,
  onMisuse,
  registry,
  restoreThreadLocalState,
  saveThreadLocalState,
  scoped,
  ThreadLocal,
  ThreadLocalState,
  ThreadLocalStateGuard,
} from "@thread-local/core";

// What a user writes for typed look-up.
declare module "@thread-local/core" {
  interface ThreadLocalSlots {
    "types_test.typed": { id: number };
  }
}

const user = new ThreadLocal("types_test.user", { initial: "nobody" });

/** What must not compile, and must not run either. */
function unreachable(_fn: () => unknown): void {}

Deno.test("ThreadLocal infers the type of its values from initial and init", () => {
  const fromInit = new ThreadLocal("types_test.init", { init: () => [1] });
  const fromFunction = new ThreadLocal("types_test.function", { initial: (n: number) => `${n}` });
  const literal = new ThreadLocal<"a" | "b">("types_test.union", { initial: "a" });
  const optional = new ThreadLocal<string | undefined>("types_test.optional");
  const optionalWithOptions = new ThreadLocal<string | undefined>("types_test.optional 2", {
    redact: true,
  });
  const untyped = new ThreadLocal("types_test.unknown");

  assertType<IsExact<typeof user, ThreadLocal<string>>>(true);
  assertType<IsExact<typeof fromInit, ThreadLocal<number[]>>>(true);
  assertType<IsExact<typeof fromFunction, ThreadLocal<(n: number) => string>>>(true);
  assertType<IsExact<ReturnType<typeof literal.get>, "a" | "b">>(true);
  assertType<IsExact<ReturnType<typeof optional.get>, string | undefined>>(true);
  assertType<IsExact<ReturnType<typeof optionalWithOptions.get>, string | undefined>>(true);
  assertType<IsExact<ReturnType<typeof untyped.get>, unknown>>(true);
});

Deno.test("ThreadLocal without initial or init does not compile unless the values may be undefined", () => {
  unreachable(() => {
    // @ts-expect-error missing initial
    new ThreadLocal<string>("types_test.never");
    // @ts-expect-error missing initial
    new ThreadLocal<string>("types_test.never", {});
    // @ts-expect-error missing initial
    new ThreadLocal<string>("types_test.never", { shared: true });
    // @ts-expect-error undefined is no string
    new ThreadLocal<string>("types_test.never", { initial: undefined });
    // @ts-expect-error undefined is no function
    new ThreadLocal<string>("types_test.never", { init: undefined });
    // @ts-expect-error init makes undefined
    new ThreadLocal<string>("types_test.never", { init: () => undefined });
    // @ts-expect-error both
    new ThreadLocal<string>("types_test.never", { initial: "a", init: () => "a" });
    // null is not undefined
    // @ts-expect-error missing initial
    new ThreadLocal<string | null>("types_test.never");
  });
});

Deno.test("ThreadLocal with a wrong key or option does not compile", () => {
  unreachable(() => {
    // @ts-expect-error a symbol is no key
    new ThreadLocal<string>(Symbol("key"), { initial: "a" });
    // @ts-expect-error no such option
    new ThreadLocal<string>("types_test.never", { initial: "a", shard: true });
    // @ts-expect-error the copy has another type
    new ThreadLocal<string>("types_test.never", { initial: "a", fork: (s: string) => s.length });
    // @ts-expect-error wire is true or a codec
    new ThreadLocal<string>("types_test.never", { initial: "a", wire: false });
    const decode = () => 1;
    // @ts-expect-error decode makes another type
    new ThreadLocal<string>("types_test.never", { initial: "a", wire: { encode: String, decode } });
  });
});

Deno.test("ThreadLocal with a value of a wrong type does not compile", () => {
  unreachable(() => {
    // @ts-expect-error a number
    user.set(1);
    // @ts-expect-error undefined is not clear()
    user.set(undefined);
    // @ts-expect-error a number
    user.run(1, () => {});
    // @ts-expect-error a number
    user.with(1);
    // @ts-expect-error a number
    user.enter(1);
    // @ts-expect-error a number
    saveThreadLocalState().with(user, 1);
    // @ts-expect-error a number is read as a string
    const _: number = user.get();
  });
});

Deno.test("ThreadLocal.run() takes the arguments of fn and gives its result", () => {
  const fn = (a: number, b?: string) => ({ a, b });

  const got = user.run("ann", fn, 1, "b");
  const later = user.run("ann", (n: number) => Promise.resolve(n), 1);

  assertEquals(got, { a: 1, b: "b" });
  assertType<IsExact<typeof got, { a: number; b: string | undefined }>>(true);
  assertType<IsExact<typeof later, Promise<number>>>(true);
  unreachable(() => {
    // @ts-expect-error wrong argument
    user.run("ann", fn, "1");
    // @ts-expect-error missing argument
    user.run("ann", fn);
    // @ts-expect-error too many
    user.run("ann", fn, 1, "b", true);
    // @ts-expect-error no function
    user.run("ann", 1);
  });
});

Deno.test("scoped(), detached() and ThreadLocalState.run() take the arguments of fn and give its result", () => {
  const fn = (a: number) => [a];
  const state = saveThreadLocalState();

  const got = [scoped(fn, 1), detached(fn, 2), state.run(fn, 3)];

  assertEquals(got, [[1], [2], [3]]);
  assertType<IsExact<typeof got, number[][]>>(true);
  unreachable(() => {
    // @ts-expect-error wrong argument
    scoped(fn, "1");
    // @ts-expect-error wrong argument
    detached(fn, "1");
    // @ts-expect-error wrong argument
    state.run(fn, "1");
    // @ts-expect-error missing argument
    scoped(fn);
  });
});

Deno.test("using without await does not compile on the async forms, and throws where it is run all the same", async () => {
  const state = saveThreadLocalState();

  const error = await assertRejects(async () => {
    // @ts-expect-error a promise is not disposable: await is missing
    using _ = user.enter("ann");
    await null;
  }, TypeError);
  assertThrows(() => {
    // @ts-expect-error a promise is not disposable: await is missing
    using _ = ThreadLocalStateGuard.enter(state);
  }, TypeError);

  assert(error instanceof TypeError);
  assertEquals(user.isBound(), false);
});

Deno.test("Guard and ThreadLocalState cannot be made or changed by users, as types go", () => {
  const state = saveThreadLocalState();
  unreachable(() => {
    // @ts-expect-error made by saveThreadLocalState()
    new ThreadLocalState([]);
    // @ts-expect-error the frame is not for users
    state.frame;
    // @ts-expect-error read-only
    state.size = 1;
    // @ts-expect-error read-only
    user.key = "other";
    // @ts-expect-error no mode of this name
    restoreThreadLocalState(state, { mode: "overlay" });
    // @ts-expect-error not a state
    restoreThreadLocalState({});
    // @ts-expect-error not a slot
    state.get({ key: "types_test.user" });
  });
  assertType<IsExact<ReturnType<typeof user.with>, Guard>>(true);
  assertType<IsExact<ReturnType<typeof user.enter>, Promise<Guard>>>(true);
});

Deno.test("ThreadLocalState.get() has the type of the slot, its iterator unknown values", () => {
  const state = user.run("ann", saveThreadLocalState);

  const value = state.get(user);
  const [[slot, held]] = state;

  assertEquals([slot, held], [user, value]);
  assertType<IsExact<typeof value, string>>(true);
  assertType<IsExact<typeof slot, ThreadLocal<unknown>>>(true);
  assertType<IsExact<typeof held, unknown>>(true);
});

Deno.test("registry.get() has the type that ThreadLocalSlots gives the key, else unknown", () => {
  const declared = new ThreadLocal("types_test.typed", { initial: { id: 1 } });

  const typed = registry.get("types_test.typed");
  const other = registry.get("types_test.other");
  const anyKey = registry.get("types_test.typed" as string);

  assertEquals(typed, declared);
  assertType<IsExact<typeof typed, ThreadLocal<{ id: number }> | undefined>>(true);
  assertType<IsExact<typeof other, ThreadLocal<unknown> | undefined>>(true);
  assertType<IsExact<typeof anyKey, ThreadLocal<unknown> | undefined>>(true);
  unreachable(() => {
    // @ts-expect-error the slot's values are objects
    registry.get("types_test.typed")?.set("x");
    // @ts-expect-error it may not be declared
    registry.get("types_test.typed").get();
  });
});

Deno.test("onMisuse() gives a Disposable and typed reports", () => {
  using listening = onMisuse(({ kind, key, stack }) => {
    assertType<IsExact<typeof key, string | undefined>>(true);
    assertType<IsExact<typeof stack, string | undefined>>(true);
    // @ts-expect-error no kind of this name
    return kind === "guard-forgotten";
  });

  assertType<IsExact<typeof listening, Disposable>>(true);
});
