/**
 * The worker's side of a pool: import it in the worker's own file.
 *
 * @example The file of a worker
 * ```ts ignore
 * import { threadLocalWorker } from "@thread-local/core/workers/worker";
 * import { user } from "./slots.ts"; // declared with wire
 *
 * threadLocalWorker({ greet: (greeting?: string) => `${greeting} ${user.get()}` });
 * ```
 *
 * @module
 */
import {
  type TaskFunction,
  type TaskFunctionObject,
  type TaskFunctionOperationResult,
  type TaskFunctions,
  ThreadWorker,
  type WorkerOptions,
} from "poolifier-web-worker";
import { forkFrom } from "../propagation/fork.ts";
import { ROOT } from "../registry/frame.ts";
import { takeWorkerNumber, type WorkerNumber } from "../registry/thread.ts";
import type { WireLimits } from "../registry/wire.ts";
import { isEnvelope, MARK, WireReader } from "./_envelope.ts";
import { packError } from "./_failure.ts";
import { holdLock } from "./_liveness.ts";

export type { WireLimits };

/** How a worker is made: the options of `ThreadWorker`, and how much state a task may bring. */
export interface ThreadLocalWorkerOptions extends WorkerOptions {
  /** See {@linkcode WireLimits}. */
  readonly limits?: WireLimits;
}

/**
 * Makes this isolate a worker of a pool that `threadLocalPool` adapts. Each task runs as a thread of
 * its own (as if the caller had forked it: slots with `inherit: false` are unbound), in the state of
 * its caller. What it binds is never seen by another task, nor by the caller.
 *
 * A caller who uses the pool without the adapter is served too, in an empty state.
 *
 * @typeParam Data What the tasks take.
 * @typeParam Response What they return.
 * @param tasks The functions that the pool can execute, by name, or a single one.
 * @param options Those of `ThreadWorker`, and `limits`.
 * @returns The worker.
 * @throws If `tasks` or `options` are not what `ThreadWorker` takes, or a limit is not a number.
 *
 * @example
 * ```ts
 * import { threadLocalWorker } from "@thread-local/core/workers/worker";
 * import { assert } from "@std/assert";
 *
 * const worker = threadLocalWorker({ greet: (name?: string) => `hello ${name}` });
 *
 * assert(worker.hasTaskFunction("greet").status);
 * ```
 */
export function threadLocalWorker<Data = unknown, Response = unknown>(
  tasks: TaskFunction<Data, Response> | TaskFunctions<Data, Response>,
  options: ThreadLocalWorkerOptions = {},
): ThreadWorker<Data, Response> {
  const { limits, ...rest } = options;
  return new ThreadLocalWorker<Data, Response>(tasks, rest, new WireReader(limits));
}

class ThreadLocalWorker<Data, Response> extends ThreadWorker<Data, Response> {
  private introduced: Promise<void> | undefined = undefined;
  readonly wires: WireReader;

  constructor(
    tasks: TaskFunction<Data, Response> | TaskFunctions<Data, Response>,
    options: WorkerOptions,
    wires: WireReader,
  ) {
    super(threadsOf(tasks), options);
    this.wires = wires;
  }

  override addTaskFunction(
    name: string,
    task: TaskFunction<Data, Response> | TaskFunctionObject<Data, Response>,
  ): TaskFunctionOperationResult {
    return super.addTaskFunction(name, threadOf(name, task));
  }

  /** Before the first task: takes the worker number, and makes the end of this isolate noticeable. */
  introduce(number: WorkerNumber): Promise<void> {
    return this.introduced ??= (async () => {
      takeWorkerNumber(number);
      const lock = await holdLock();
      const message: object = { [MARK]: lock ?? true };
      this.sendToMainWorker(message);
    })();
  }
}

function threadsOf<Data, Response>(
  tasks: TaskFunction<Data, Response> | TaskFunctions<Data, Response>,
): TaskFunction<Data, Response> | TaskFunctions<Data, Response> {
  if (typeof tasks === "function") {
    return Object.defineProperty(threadOf(tasks.name || "default", tasks), "name", {
      value: tasks.name,
    }) as TaskFunction<Data, Response>;
  }
  // What is wrong with them is for the pool's worker to say.
  if (typeof tasks !== "object" || tasks === null) return tasks;
  return Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [name, threadOf(name, task)]),
  );
}

/** The task as a function for the pool, which binds it to the worker. */
function threadOf<Data, Response>(
  name: string,
  task: TaskFunction<Data, Response> | TaskFunctionObject<Data, Response>,
): TaskFunction<Data, Response> | TaskFunctionObject<Data, Response> {
  if (typeof task === "function") {
    const fn: (data?: Data) => Response | Promise<Response> = task;
    // One function, and one promise, for it all: each more is a microtask of every round trip.
    const run = async function (
      this: ThreadLocalWorker<Data, Response>,
      sent?: Data,
    ): Promise<Response> {
      if (!isEnvelope(sent)) return await forkFrom(ROOT, name, fn, [sent]);
      const { [MARK]: wire, data, worker } = sent;
      // The pool sends it back with an error: it must then be small, and possible to clone.
      sent.data = undefined;
      try {
        if (worker !== undefined) await this.introduce(worker);
        return await forkFrom(this.wires.read(wire), name, fn, [data as Data]);
      } catch (error) {
        throw packError(error);
      }
    };
    return run as TaskFunction<Data, Response>;
  }
  if (typeof task?.taskFunction !== "function") return task;
  const taskFunction = threadOf(name, task.taskFunction) as TaskFunction<Data, Response>;
  return { ...task, taskFunction };
}
