import {
  detached,
  type Guard,
  restoreThreadLocalState,
  saveThreadLocalState,
  scoped,
  ThreadLocal,
  type ThreadLocalState,
  ThreadLocalStateGuard,
} from "@thread-local/core";
import { EDIT_GUARDS, editedSlots } from "./edit_guards.ts";
import {
  type Body,
  type Edit,
  type Event,
  type How,
  PALETTES,
  type Program,
  type Statement,
  type Target,
  type Value,
} from "./program.ts";
import { Scope, type Trace } from "./scope.ts";

type Slot = ThreadLocal<Value>;

/** Closes a guard. */
type Close = () => void;

type Names = Scope<Slot, ThreadLocalState, Close>;

/** Declared before anything else in this isolate, so that slot `n` has the `n`th place. */
const pool: readonly Slot[] = Array.from(
  { length: PALETTES.wide.length },
  (_, number) => new ThreadLocal<Value>(`laws.${number}`, { initial: -1 - number }),
);

/** Slots cannot be undeclared: when so many have been declared late, they are taken again. */
const LATE_AT_MOST = 2_000;
const late: Slot[] = [];
let taken = 0;

function declareLate(): Slot {
  const number = taken++ % LATE_AT_MOST;
  return late[number] ??= new ThreadLocal<Value>(`laws.late.${number}`, { initial: -1000 });
}

class Thrown extends Error {}

/**
 * Runs a program on the library, and all that it began.
 *
 * @returns What its flows read.
 */
export async function execute({ slots, body }: Program): Promise<Trace> {
  // Behind an `await`, it is a flow of its own: what it binds does not reach the caller.
  await undefined;
  const background: Promise<void>[] = [];
  const flow = new Flow(new Scope(PALETTES[slots].map((number) => pool[number])), [], background);
  background.push(flow.runAsync(body).catch(passThrown));
  for (const promise of background) await promise;
  return flow.trace;
}

function passThrown(error: unknown): void {
  if (!(error instanceof Thrown)) throw error;
}

/** One function that is running. What it sees is where the library keeps it. */
class Flow {
  constructor(
    private readonly scope: Names,
    readonly trace: Trace,
    private readonly background: Promise<void>[],
  ) {}

  /** An async function. Its blocks share its continuations, as if the program were written out. */
  async runAsync(body: Body): Promise<void> {
    const steps = this.run(body);
    let step = steps.next();
    while (!step.done) {
      let value: unknown;
      try {
        value = await step.value;
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(value);
    }
  }

  /** A synchronous function. */
  private runSync(body: Body): void {
    if (!this.run(body).next().done) throw new Error("A synchronous function cannot await");
  }

  /** Runs a body; `yield` is `await`. */
  private *run(body: Body): Generator<Promise<unknown>, void, unknown> {
    for (const statement of body) {
      yield* this.execute(statement);
      const reads: unknown[] = [];
      for (const slot of this.scope.slots) reads.push(slot.isBound(), slot.get());
      for (const { slot, write } of editedSlots()) reads.push(slot.isBound(), write(slot.get()));
      this.trace.push({ after: statement, reads });
    }
  }

  private *execute(statement: Statement): Generator<Promise<unknown>, void, unknown> {
    const { scope } = this;
    switch (statement.do) {
      case "set":
        scope.slot(statement.slot).set(statement.value);
        break;
      case "set all":
        scope.slots.forEach((slot, i) => slot.set(statement.value + i));
        break;
      case "clear":
        scope.slot(statement.slot).clear();
        break;
      case "declare":
        scope.slots.push(declareLate());
        break;
      case "save":
        scope.states.push(saveThreadLocalState());
        break;
      case "with":
      case "without":
      case "pick":
      case "omit":
        this.edit(statement);
        break;
      case "restore": {
        const state = scope.state(statement.state);
        if (state !== undefined) restoreThreadLocalState(state, { mode: statement.mode });
        break;
      }
      case "create":
        this.create(statement.target, false);
        break;
      case "open": {
        const created = this.create(statement.target, statement.async);
        if (created === undefined) break;
        const stack = new DisposableStack();
        stack.use(created instanceof Promise ? (yield created) as Guard : created);
        scope.guards.push(() => stack.dispose());
        break;
      }
      case "guard": {
        const created = this.create(statement.target, statement.async);
        if (created === undefined) break;
        using guard = created instanceof Promise ? (yield created) as Guard : created;
        const close = guard[Symbol.dispose];
        scope.guards.push(() => close.call(guard));
        yield* this.run(statement.body);
        break;
      }
      case "close":
        scope.guard(statement.guard)?.();
        break;
      case "call": {
        const { how, body } = statement;
        if (!statement.async) {
          this.call(how, () => this.runSync(body));
          break;
        }
        const promise = this.call(how, () => this.runAsync(body));
        if (promise !== undefined) yield promise;
        break;
      }
      case "all": {
        const promises = statement.branches.map(({ how, body }) => {
          const branch = this.fork();
          return this.call(how, () => branch.runAsync(body));
        });
        try {
          yield Promise.all(promises);
        } finally {
          yield Promise.allSettled(promises);
        }
        break;
      }
      case "later": {
        const { promise, resolve } = Promise.withResolvers<void>();
        const later = this.fork();
        begin(statement.on, () => resolve(later.runAsync(statement.body)));
        this.background.push(promise.catch(passThrown));
        break;
      }
      case "await": {
        const { promise, resolve } = Promise.withResolvers<void>();
        begin(statement.on, resolve);
        yield promise;
        break;
      }
      case "try":
        try {
          yield* this.run(statement.body);
        } catch (error) {
          passThrown(error);
        }
        break;
      case "throw":
        throw new Thrown();
    }
  }

  private edit(statement: Edit): void {
    const { scope } = this;
    const state = scope.state(statement.state);
    if (state === undefined) return;
    const edited = editState(statement, state, scope);
    scope.states.push(edited);
    const reads: unknown[] = [edited.size];
    for (const slot of scope.slots) reads.push(edited.has(slot), edited.get(slot));
    for (const { slot, write } of editedSlots()) {
      reads.push(edited.has(slot), write(edited.get(slot)));
    }
    this.trace.push({ after: statement, reads });
  }

  /** A guard, or the promise of one; `undefined` if there is no such state. */
  private create(target: Target, async: boolean): Guard | Promise<Guard> | undefined {
    if (target.binds === "slot") {
      const slot = this.scope.slot(target.slot);
      return async ? slot.enter(target.value) : slot.with(target.value);
    }
    if (target.binds === "edit") {
      const guard = EDIT_GUARDS[target.edit];
      return async ? guard.enter() : guard.create();
    }
    const state = this.scope.state(target.state);
    if (state === undefined) return undefined;
    return async ? ThreadLocalStateGuard.enter(state) : new ThreadLocalStateGuard(state);
  }

  private call<R>(how: How, fn: () => R): R | undefined {
    switch (how.by) {
      case "plain":
        return fn();
      case "scoped":
        return scoped(fn);
      case "detached":
        return detached(fn);
      case "run":
        return this.scope.slot(how.slot).run(how.value, fn);
      case "state.run":
        return this.scope.state(how.state)?.run(fn);
      case "edit":
        return EDIT_GUARDS[how.edit].run(fn);
    }
  }

  /** A flow that goes on beside this one. */
  private fork(): Flow {
    const trace: Trace = [];
    this.trace.push(trace);
    return new Flow(this.scope.fork(), trace, this.background);
  }
}

function begin(event: Event, fn: () => void): void {
  if (event === "microtask") queueMicrotask(fn);
  else setTimeout(fn, 0);
}

function editState(edit: Edit, state: ThreadLocalState, scope: Names): ThreadLocalState {
  switch (edit.do) {
    case "with":
      return state.with(scope.slot(edit.slot), edit.value);
    case "without":
      return state.without(scope.slot(edit.slot));
    case "pick":
    case "omit":
      return state[edit.do](...edit.slots.map((pick) => scope.slot(pick)));
  }
}
