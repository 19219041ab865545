import { EDITED_SLOTS, EDITS, write } from "./edits.ts";
import {
  applyEdits,
  bind,
  editState,
  EMPTY,
  enter,
  type Environment,
  exists,
  type Guard,
  type Names,
  type Part,
  partsOf,
  restore,
  unbind,
  undoPart,
  valueIn,
} from "./environment.ts";
import {
  type Body,
  type Edit,
  type How,
  PALETTES,
  type Program,
  type Statement,
  type Target,
} from "./program.ts";
import { Scope, type Trace } from "./scope.ts";

// The reference: what a program reads, by the documented meaning of each statement. Nothing here is
// ambient. A flow has its environment in a field, and hands it to the functions that it calls.

/** One function that is running: its environment, its names, and where its readings go. */
interface Flow {
  environment: Environment;
  readonly scope: Names;
  readonly trace: Trace;
}

/** An async function between two suspensions. */
class Task {
  done = false;
  failed = false;

  constructor(readonly flow: Flow, private readonly steps: Generator<void, void>) {}

  /** Goes on until it suspends or ends. */
  step(): void {
    try {
      this.done = this.steps.next().done!;
    } catch (error) {
      if (!(error instanceof Thrown)) throw error;
      this.done = this.failed = true;
    }
  }
}

class Thrown extends Error {}

/** What a program should read, and what misuse should be reported. */
export interface Expectation {
  readonly trace: Trace;
  readonly reports: readonly string[];
}

/** Predicts a program. */
export function predict(program: Program): Expectation {
  return new Model().predict(program);
}

class Model {
  private readonly reports: string[] = [];
  private readonly background: Task[] = [];
  /** The synchronous guards that were opened since the last suspension. */
  private turn: Guard[] = [];
  private clock = 0;

  predict({ slots, body }: Program): Expectation {
    const scope: Names = new Scope(
      PALETTES[slots].map((number) => ({ key: `laws.${number}`, initial: -1 - number })),
    );
    const flow: Flow = { environment: EMPTY, scope, trace: [] };
    this.background.push(new Task(flow, this.run(body, flow)));
    for (const task of this.background) {
      while (!task.done) {
        task.step();
        this.endTurn();
      }
    }
    return { trace: flow.trace, reports: this.reports };
  }

  /** Runs a body; `yield` is a suspension. */
  private *run(body: Body, flow: Flow): Generator<void, void> {
    for (const statement of body) {
      yield* this.execute(statement, flow);
      flow.trace.push({ after: statement, reads: [...this.read(flow.environment, flow.scope)] });
    }
  }

  private *read(environment: Environment, { slots }: Names): Generator<unknown> {
    const { bindings } = environment;
    for (const slot of slots) {
      yield bindings.has(slot);
      yield valueIn(environment, slot);
    }
    for (const slot of EDITED_SLOTS) {
      yield bindings.has(slot);
      yield write(valueIn(environment, slot));
    }
  }

  private *execute(statement: Statement, flow: Flow): Generator<void, void> {
    const { scope } = flow;
    switch (statement.do) {
      case "set":
        flow.environment = bind(flow.environment, scope.slot(statement.slot), statement.value);
        break;
      case "set all":
        scope.slots.forEach((slot, i) =>
          flow.environment = bind(flow.environment, slot, statement.value + i)
        );
        break;
      case "clear":
        flow.environment = unbind(flow.environment, [scope.slot(statement.slot)]);
        break;
      case "declare":
        scope.slots.push({ key: "laws.late", initial: -1000 });
        break;
      case "save":
        scope.states.push(flow.environment);
        break;
      case "with":
      case "without":
      case "pick":
      case "omit":
        this.edit(statement, flow);
        break;
      case "restore": {
        const state = scope.state(statement.state);
        if (state !== undefined) {
          flow.environment = restore(state, statement.mode, flow.environment);
        }
        break;
      }
      case "create":
        break;
      case "open":
        // An async guard binds after the suspension.
        if (!exists(statement.target, scope)) break;
        yield* this.open(statement, flow);
        break;
      case "guard": {
        if (!exists(statement.target, scope)) break;
        const guard: Guard = yield* this.open(statement, flow);
        try {
          yield* this.run(statement.body, flow);
        } finally {
          this.close(guard, flow);
        }
        break;
      }
      case "close": {
        const guard = scope.guard(statement.guard);
        if (guard !== undefined) this.close(guard, flow);
        break;
      }
      case "call":
        yield* this.call(statement, flow);
        break;
      case "all": {
        const tasks = statement.branches.map(({ how, body }) => {
          const branch = { scope: scope.fork(), trace: [] };
          flow.trace.push(branch.trace);
          return this.begin(how, body, flow, branch);
        }).filter((task) => task !== undefined);
        do {
          yield;
          for (const task of tasks.filter(({ done }) => !done)) {
            task.step();
            yield;
          }
        } while (tasks.some(({ done }) => !done));
        if (tasks.some(({ failed }) => failed)) throw new Thrown();
        break;
      }
      case "later": {
        const later: Flow = { environment: flow.environment, scope: scope.fork(), trace: [] };
        flow.trace.push(later.trace);
        this.background.push(new Task(later, this.run(statement.body, later)));
        break;
      }
      case "await":
        yield;
        break;
      case "try":
        try {
          yield* this.run(statement.body, flow);
        } catch (error) {
          if (!(error instanceof Thrown)) throw error;
        }
        break;
      case "throw":
        throw new Thrown();
    }
  }

  private edit(statement: Edit, { scope, trace }: Flow): void {
    const state = scope.state(statement.state);
    if (state === undefined) return;
    const edited = editState(statement, state, scope);
    scope.states.push(edited);
    trace.push({ after: statement, reads: [edited.bindings.size, ...this.read(edited, scope)] });
  }

  private *open(
    { async, target }: { readonly async: boolean; readonly target: Target },
    flow: Flow,
  ): Generator<void, Guard> {
    const { scope } = flow;
    // The arguments are read now, the guard binds after the suspension.
    const parts = partsOf(target, scope);
    const state = target.binds === "state" ? scope.state(target.state) : undefined;
    if (async) yield;
    const before = flow.environment;
    const guard: Guard = {
      parts,
      opened: ++this.clock,
      before,
      closed: undefined,
      reported: false,
    };
    const inside = target.binds === "slot"
      ? bind(before, parts![0].slot, target.value)
      : target.binds === "edit"
      ? applyEdits(before, EDITS[target.edit])
      : state!;
    flow.environment = { bindings: inside.bindings, guards: [...before.guards, guard] };
    scope.guards.push(guard);
    if (!async) this.turn.push(guard);
    return guard;
  }

  /**
   * A guard that binds a slot brings back what the slot was before, one that edits it takes its
   * own edit out. If a guard that is open inside it binds the slot too, that one will bring it back
   * in its place; one that edits it is applied anew. A guard that binds a state brings everything
   * back.
   */
  private close(guard: Guard, flow: Flow): void {
    if (guard.closed !== undefined) return;
    guard.closed = ++this.clock;
    const { parts, before } = guard;
    const { guards } = flow.environment;
    const position = guards.indexOf(guard);
    if (position < 0) {
      this.report("guard-elsewhere", guard);
      return;
    }
    const inner = guards.slice(position + 1).filter(({ closed }) => closed === undefined);
    if (parts === undefined) flow.environment = before;
    else for (const part of parts) this.undo(part, before, inner, flow);
    if (inner.length > 0) this.report("guard-out-of-order", guard);
  }

  private undo(part: Part, before: Environment, inner: readonly Guard[], flow: Flow): void {
    const { slot } = part;
    let undo = (now: Environment): Environment => undoPart(part, before, now);
    for (const guard of inner) {
      const own = guard.parts?.find((each) => each.slot === slot);
      if (own === undefined && guard.parts !== undefined) continue;
      guard.before = undo(guard.before);
      // What it binds hides what is outside of it.
      if (own?.edit === undefined) return;
      const { edit } = own;
      const outside = undo;
      undo = (now) => applyEdits(outside(now), [edit]);
    }
    flow.environment = undo(flow.environment);
  }

  private *call(
    { how, body, async }: Statement & { readonly do: "call" },
    flow: Flow,
  ): Generator<void, void> {
    const task = this.begin(how, body, flow, flow);
    if (task === undefined) return;
    if (async) {
      yield;
      while (!task.done) {
        task.step();
        yield;
      }
    }
    if (task.failed) throw new Thrown();
  }

  /** Calls a function: its synchronous part is over when this returns. */
  private begin(
    how: How,
    body: Body,
    caller: Flow,
    names: { readonly scope: Names; readonly trace: Trace },
  ): Task | undefined {
    const inside = enter(how, caller.environment, caller.scope);
    if (inside === undefined) return undefined;
    const since = this.clock;
    const flow: Flow = { environment: inside, scope: names.scope, trace: names.trace };
    const task = new Task(flow, this.run(body, flow));
    task.step();
    if (how.by === "plain") caller.environment = flow.environment;
    else this.checkScope(since, inside, flow.environment);
    return task;
  }

  /** A scope reports its guards that are open, and those from outside that it closed. */
  private checkScope(since: number, entered: Environment, left: Environment): void {
    for (const guard of left.guards) {
      if (guard.closed === undefined && guard.opened > since) this.report("guard-left-open", guard);
    }
    for (const guard of entered.guards) {
      if (guard.closed !== undefined && guard.closed > since) this.report("guard-left-open", guard);
    }
  }

  /** A synchronous guard that is open when nothing runs any more crossed an `await`. */
  private endTurn(): void {
    for (const guard of this.turn) {
      if (guard.closed === undefined) this.report("guard-across-await", guard);
    }
    this.turn = [];
  }

  /** The first misuse of a guard is reported. */
  private report(kind: string, guard: Guard): void {
    if (guard.reported) return;
    guard.reported = true;
    this.reports.push(`${kind} of ${guard.parts?.[0].slot.key ?? "a state"}`);
  }
}
