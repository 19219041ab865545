import { onMisuse, ThreadLocal } from "@thread-local/core";
import { threadLocalPool, WorkerLostError } from "@thread-local/core/workers";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { DynamicThreadPool, FixedThreadPool, type PoolOptions } from "poolifier-web-worker";
import { rootThread } from "../../registry/thread.ts";
import { secret, tags, user, visits } from "./_slots.ts";
import type { Request } from "./_tasks.ts";

const TASKS = new URL("./_tasks.ts", import.meta.url);

// Without stealing: the pool's timers for it outlive the pool.
const queue = {
  enableTasksQueue: true,
  tasksQueueOptions: { concurrency: 1, taskStealing: false },
};

type TestPool = FixedThreadPool<Request, unknown>;

/** Runs `use` with an adapted pool, and ends its workers. */
async function withPool(
  size: number,
  use: (pool: TestPool) => Promise<void>,
  options: PoolOptions = {},
): Promise<void> {
  const pool = threadLocalPool(new FixedThreadPool<Request, unknown>(size, TASKS, options));
  try {
    await use(pool);
  } finally {
    await pool.destroy();
  }
}

/** What a rejected promise rejects with. */
async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was fulfilled");
}

Deno.test("threadLocalPool().execute() runs the task in the state of its caller", async () => {
  await withPool(1, async (pool) => {
    const both = await Promise.all([
      user.run("ann", () => pool.execute({}, "readLater")),
      user.run("bob", () => visits.run(2, () => pool.execute({}, "readLater"))),
      pool.execute({}, "readLater"),
    ]);

    assertEquals(both, ["ann/unbound", "bob/2", "nobody/unbound"]);
  });
});

Deno.test("threadLocalPool().execute() sends no slot without wire", async () => {
  await withPool(1, async (pool) => {
    assertEquals(await secret.run("password", () => pool.execute({}, "size")), 0);
  });
});

Deno.test("threadLocalPool().execute() goes on in the state of its caller", async () => {
  await withPool(1, async (pool) => {
    await user.run("ann", async () => {
      await pool.execute({}, "litter");
      assertEquals([user.get(), visits.isBound()], ["ann", false]);
      await rejection(pool.execute({}, "litterAndThrow"));
      assertEquals(user.get(), "ann");
      await pool.execute({}, "read").then(() => assertEquals(user.get(), "ann"));
    });
  });
});

Deno.test("threadLocalPool().execute() leaves nothing behind for the next task", async () => {
  await withPool(1, async (pool) => {
    await user.run("ann", () => pool.execute({}, "litter"));
    await rejection(user.run("bob", () => pool.execute({}, "litterAndThrow")));

    assertEquals(await pool.execute({}, "read"), "nobody/unbound");
  });
});

Deno.test("threadLocalPool().execute() sends what a value holds now, and every task has its own", async () => {
  await withPool(1, async (pool) => {
    await tags.run(["web"], async () => {
      assertEquals(await pool.execute({}, "addTag"), "web");
      assertEquals(await pool.execute({}, "addTag"), "web");
      tags.get().push("slow");
      assertEquals(await pool.execute({}, "addTag"), "web,slow");
    });
  });
});

Deno.test("threadLocalPool().execute() tells states apart that follow each other", async () => {
  await withPool(1, async (pool) => {
    for (const name of ["ann", "ann", "bob", "ann"]) {
      assertEquals(await user.run(name, () => pool.execute({}, "read")), `${name}/unbound`);
    }
  });
});

Deno.test("threadLocalPool().execute() rejects when a value cannot be sent, and names the key", async () => {
  const wrong = new ThreadLocal<unknown>("pool_test.wrong", { wire: true });
  await withPool(1, async (pool) => {
    await assertRejects(
      () => wrong.run(() => 1, () => pool.execute({}, "read")),
      TypeError,
      "pool_test.wrong",
    );
    assertEquals(await pool.execute({}, "read"), "nobody/unbound");
  });
});

Deno.test("threadLocalPool().execute() passes on what the worker does not declare", async () => {
  const unknown = new ThreadLocal("pool_test.unknown", { initial: 0, wire: true });
  await withPool(1, async (pool) => {
    const wire = await user.run("ann", () => unknown.run(7, () => pool.execute({}, "passOn")));

    assertEquals(wire, {
      version: 1,
      bindings: [["workers_test.user", "ann"], ["pool_test.unknown", 7]],
    });
  });
});

Deno.test("threadLocalPool().execute() gives the task its data, {} if there is none", async () => {
  await withPool(1, async (pool) => {
    assertEquals(await pool.execute({ text: "x" }, "data"), { text: "x" });
    assertEquals(await pool.execute(undefined, "data"), {});
    assertEquals(await user.run("ann", () => pool.execute()), "ann/unbound");
  });
});

Deno.test("threadLocalPool().execute() moves the objects of a transfer list", async () => {
  await withPool(1, async (pool) => {
    const buffer = new ArrayBuffer(8);

    const length = await pool.execute({ buffer }, "byteLength", undefined, [buffer]);

    assertEquals([length, buffer.byteLength], [8, 0]);
  });
});

Deno.test("threadLocalPool().mapExecute() runs every task in the state of its caller", async () => {
  await withPool(2, async (pool) => {
    const data = new Set([{ begin: 0, end: 1 }, { begin: 1, end: 2 }, { begin: 2, end: 3 }]);

    const results = await user.run("ann", () => pool.mapExecute(data, "chunk"));

    assertEquals(results, [[0, 1, "ann/unbound"], [1, 2, "ann/unbound"], [2, 3, "ann/unbound"]]);
  });
});

Deno.test("threadLocalPool().mapExecute() rejects with the error of a task, and for bad arguments", async () => {
  await withPool(2, async (pool) => {
    await assertRejects(() => pool.mapExecute([{}, {}], "throwBuiltIn"), RangeError, "too far");
    await assertRejects(() => pool.mapExecute(1 as unknown as Request[]), TypeError, "iterable");
  });
});

Deno.test("threadLocalPool().mapExecute() rejects at the first abort", async () => {
  await withPool(2, async (pool) => {
    const [first, second] = [new AbortController(), new AbortController()];
    const reason = new Error("enough");

    const mapped = pool.mapExecute([{}, {}], "never", [first.signal, second.signal]);
    second.abort(reason);

    assertStrictEquals(await rejection(mapped), reason);
    assertEquals(await pool.execute({}, "read"), "nobody/unbound");
  });
});

Deno.test("threadLocalPool() is the pool in everything else", async () => {
  const pool = new FixedThreadPool<Request, unknown>(1, TASKS);
  const adapted = threadLocalPool(pool);

  assertInstanceOf(adapted, FixedThreadPool);
  assertStrictEquals(adapted.workerNodes, pool.workerNodes);
  assertEquals(adapted.info.maxSize, 1);
  assertStrictEquals(threadLocalPool(pool), adapted);
  assertStrictEquals(threadLocalPool(adapted), adapted);

  await adapted.destroy();
});

Deno.test("threadLocalPool() refuses what is no pool", () => {
  for (const wrong of [null, undefined, 1, {}, { execute() {}, mapExecute() {} }]) {
    assertThrows(() => threadLocalPool(wrong as unknown as TestPool), TypeError, "Cannot adapt");
  }
});

Deno.test("threadLocalPool() serves a dynamic pool whose workers come with the load", async () => {
  const pool = threadLocalPool(new DynamicThreadPool<Request, unknown>(0, 3, TASKS));

  const seen = await Promise.all(
    Array.from({ length: 12 }, (_, i) => user.run(`u${i}`, () => pool.execute({}, "readLater"))),
  );

  assertEquals(seen, Array.from({ length: 12 }, (_, i) => `u${i}/unbound`));
  await pool.destroy();
});

Deno.test("threadLocalPool() starts the pool's workers in the state of no caller", async () => {
  const heard: string[] = [];
  const pool = threadLocalPool(
    new DynamicThreadPool<Request, unknown>(0, 1, TASKS, {
      messageEventHandler: () => heard.push(user.get()),
    }),
  );

  await user.run("ann", () => pool.execute({}, "post"));
  await new Promise((resolve) => setTimeout(resolve));

  assertEquals(heard, ["nobody"]);
  await pool.destroy();
});

Deno.test("threadLocalPool() runs a task that is added at run time in its caller's state", async () => {
  await withPool(1, async (pool) => {
    await pool.execute({}, "read");
    await pool.addTaskFunction("added", () => {
      const world = (globalThis as unknown as Record<symbol, Map<number, Map<string, unknown>>>)[
        Symbol.for("@thread-local/core")
      ];
      const { byKey } = world.get(1)!.get("slots") as {
        byKey: Map<string, { get(): unknown }>;
      };
      return byKey.get("workers_test.user")!.get();
    });

    assertEquals(await user.run("ann", () => pool.execute({}, "added")), "ann");
  });
});

Deno.test("threadLocalWorker() serves a pool that is not adapted, in an empty state", async () => {
  const pool = new FixedThreadPool<Request, unknown>(1, TASKS);

  const seen = await user.run("ann", () => pool.execute({ text: "x" }, "read"));

  assertEquals(seen, "nobody/unbound");
  assertInstanceOf(await rejection(pool.execute({}, "throwBuiltIn")), RangeError);
  await pool.destroy();
});

interface ThreadSeen {
  readonly id: bigint;
  readonly parentId: bigint;
  readonly name: string;
  readonly root: bigint;
}

Deno.test("threadLocalWorker() runs each task as a thread, with ids of its own isolate", async () => {
  await withPool(2, async (pool) => {
    const threads = await pool.mapExecute([{}, {}, {}, {}], "thread") as ThreadSeen[];

    const workers = new Set(threads.map(({ id }) => id >> 48n));
    assertEquals(new Set(threads.map(({ id }) => id)).size, 4);
    assertEquals(workers.size, 2);
    assert(!workers.has(rootThread.id >> 48n));
    for (const { id, parentId, root, name } of threads) {
      assertEquals([root >> 48n, parentId, name], [id >> 48n, root, "thread"]);
    }
  });
});

Deno.test("threadLocalPool() rejects with the class, message and cause of a built-in error", async () => {
  await withPool(1, async (pool) => {
    const error = await assertRejects(() => pool.execute({}, "throwBuiltIn"), RangeError);

    assertEquals(error.message, "too far");
    assertInstanceOf(error.cause, TypeError);
    assert(error.stack!.includes("_tasks.ts"));
  });
});

Deno.test("threadLocalPool() rejects with name, properties and base of a user's own error", async () => {
  await withPool(1, async (pool) => {
    const error = await assertRejects(() => pool.execute({}, "throwOwn"), RangeError, "no room");

    assertEquals([error.name, { ...error }], ["QuotaError", { code: "E_QUOTA", left: 3 }]);
  });
});

Deno.test("threadLocalPool() rejects with an AggregateError, a DOMException, a value", async () => {
  await withPool(1, async (pool) => {
    const many = await assertRejects(() => pool.execute({}, "throwMany"), AggregateError);
    const dom = await assertRejects(() => pool.execute({}, "throwDom"), DOMException, "late");

    assertInstanceOf(many.errors[0], SyntaxError);
    assertEquals(many.errors[1], "two");
    assertEquals(dom.name, "TimeoutError");
    assertEquals(await rejection(pool.execute({}, "throwText")), "plain text");
  });
});

Deno.test("threadLocalPool() settles when what is thrown or returned cannot be cloned", async () => {
  await withPool(1, async (pool) => {
    await rejection(pool.execute({}, "throwFunction"));
    const error = await rejection(pool.execute({}, "returnFunction"));

    assertEquals((error as Error).name, "DataCloneError");
  });
});

Deno.test("threadLocalPool() settles when a task throws that was given a port", async () => {
  await withPool(1, async (pool) => {
    const { port1, port2 } = new MessageChannel();

    const failed = pool.execute({ port: port2 }, "throwWithPort", undefined, [port2]);

    assertInstanceOf(await rejection(failed), URIError);
    port1.close();
  });
});

Deno.test("threadLocalPool() rejects when the data cannot be cloned, and goes on", async () => {
  await withPool(1, async (pool) => {
    const data = { text: (() => 1) as unknown as string };

    const error = await rejection(pool.execute(data, "read"));

    assertEquals((error as Error).name, "DataCloneError");
    assertEquals(await pool.execute({}, "read"), "nobody/unbound");
  }, queue);
});

Deno.test("threadLocalPool() rejects with the signal's reason, whatever it is", async () => {
  await withPool(1, async (pool) => {
    for (const reason of [new TypeError("stop"), "text", 0, undefined]) {
      const controller = new AbortController();

      const aborted = pool.execute({}, "never", controller.signal);
      controller.abort(reason);

      assertStrictEquals(await rejection(aborted), controller.signal.reason);
    }
  });
});

Deno.test("threadLocalPool() rejects for a signal that is aborted already, and sends nothing", async () => {
  await withPool(1, async (pool) => {
    const aborted = pool.execute({}, "close", AbortSignal.abort("before"));

    assertEquals(await rejection(aborted), "before");
    assertEquals(await pool.execute({}, "read"), "nobody/unbound");
  });
});

Deno.test("threadLocalPool() rejects for an abort of a task that waits in the pool's queue", async () => {
  await withPool(1, async (pool) => {
    const [first, second] = [new AbortController(), new AbortController()];

    const running = pool.execute({}, "never", first.signal);
    const queued = pool.execute({}, "read", second.signal);
    second.abort("queued");
    const last = pool.execute({}, "read");

    assertEquals(await rejection(queued), "queued");
    first.abort("running");
    assertEquals(await rejection(running), "running");
    assertEquals(await last, "nobody/unbound");
  }, queue);
});

Deno.test("threadLocalPool() refuses a signal that is none, as the pool does", async () => {
  await withPool(1, async (pool) => {
    await assertRejects(
      () => pool.execute({}, "read", {} as unknown as AbortSignal),
      TypeError,
      "abortSignal",
    );
  });
});

/** A task that runs in ann's state until it is told to end. */
async function startTask(pool: TestPool): Promise<{ task: Promise<unknown>; end(): void }> {
  const { port1, port2 } = new MessageChannel();
  const started = new Promise((resolve) => port1.onmessage = resolve);
  const task = user.run("ann", () => pool.execute({ port: port2 }, "wait", undefined, [port2]));
  // It may fail before it is awaited.
  task.catch(() => {});
  await started;
  return {
    task,
    end() {
      port1.postMessage("end");
      port1.close();
    },
  };
}

for (const [mode, options] of Object.entries({ "": {}, " with a queue": queue })) {
  for (const task of ["close", "exit", "escape"]) {
    Deno.test(`threadLocalPool()${mode} rejects when the worker ends by "${task}", and goes on`, async () => {
      await withPool(2, async (pool) => {
        const other = await startTask(pool);

        const error = await rejection(user.run("bob", () => pool.execute({}, task)));

        assertInstanceOf(error, WorkerLostError);
        assertEquals(error.task, task);
        assertEquals(await pool.execute({}, "read"), "nobody/unbound");
        other.end();
        assertEquals(await other.task, "ann/unbound");
        assertEquals(
          await Promise.all(Array.from({ length: 6 }, () => pool.execute({}, "read"))),
          Array(6).fill("nobody/unbound"),
        );
        assertEquals(pool.info.executingTasks, 0);
      }, options);
    });
  }

  Deno.test(`threadLocalPool()${mode} rejects when the worker is terminated in mid-task`, async () => {
    await withPool(1, async (pool) => {
      const { task, end } = await startTask(pool);

      pool.workerNodes[0].worker.terminate();

      assertInstanceOf(await rejection(task), WorkerLostError);
      end();
      assertEquals(await pool.execute({}, "read"), "nobody/unbound");
    }, options);
  });
}

Deno.test("threadLocalPool() keeps the pool's books right for the workers behind one that ended", async () => {
  await withPool(2, async (pool) => {
    const [first, second] = [await startTask(pool), await startTask(pool)];

    pool.workerNodes[0].worker.terminate();
    second.end();

    assertInstanceOf(await rejection(first.task), WorkerLostError);
    assertEquals(await second.task, "ann/unbound");
    assertEquals(pool.info.executingTasks, 0);
    first.end();
  });
});

Deno.test("threadLocalPool() says which error ended the worker", async () => {
  await withPool(1, async (pool) => {
    const error = await rejection(pool.execute({}, "escape"));

    assert((error as Error).message.includes("escaped"));
  });
});

Deno.test("threadLocalPool() rejects what was queued for a worker that ended", async () => {
  await withPool(1, async (pool) => {
    const tasks = ["close", "never", "never"].map((task) => rejection(pool.execute({}, task)));

    for (const error of await Promise.all(tasks)) assertInstanceOf(error, WorkerLostError);

    assertEquals(await pool.execute({}, "read"), "nobody/unbound");
  }, queue);
});

for (const [which, ended, lost] of [["left", 0, false], ["went to", 1, true]] as const) {
  Deno.test(`threadLocalPool() ${lost ? "rejects" : "keeps"} a queued task when the worker that it ${which} ends`, async () => {
    await withPool(2, async (pool) => {
      const running = [await startTask(pool), await startTask(pool)];
      const queued = user.run("bob", () => pool.execute({}, "read"));
      const outcome = queued.catch((error) => error);
      const [from, to] = pool.workerNodes;
      // What the pool does when one worker takes over another's task.
      to.enqueueTask(from.dequeueTask()!);

      pool.workerNodes[ended].worker.terminate();
      running.forEach(({ end }) => end());

      await Promise.allSettled(running.map(({ task }) => task));
      if (lost) assertInstanceOf(await outcome, WorkerLostError);
      else assertEquals(await outcome, "bob/unbound");
      assertEquals(pool.info.executingTasks, 0);
    }, queue);
  });
}

Deno.test("threadLocalPool() survives an answer that was on its way when the worker was terminated", async () => {
  await withPool(1, async (pool) => {
    const { info, messageChannel, worker } = pool.workerNodes[0];
    const { port1 } = messageChannel!;

    worker.terminate();
    port1.dispatchEvent(new MessageEvent("message", { data: { workerId: info.id } }));

    assertEquals(await pool.execute({}, "read"), "nobody/unbound");
  });
});

Deno.test("threadLocalPool() rejects running tasks when the pool is destroyed", async () => {
  const pool = threadLocalPool(new FixedThreadPool<Request, unknown>(1, TASKS));
  const { task, end } = await startTask(pool);

  await pool.destroy();

  assertInstanceOf(await rejection(task), WorkerLostError);
  end();
});

Deno.test("threadLocalPool() keeps its thread ids apart when workers are replaced", async () => {
  await withPool(1, async (pool) => {
    const before = await pool.execute({}, "thread") as ThreadSeen;
    await rejection(pool.execute({}, "close"));
    const after = await pool.execute({}, "thread") as ThreadSeen;

    assert(before.id >> 48n !== after.id >> 48n);
  });
});

Deno.test("threadLocalPool() and threadLocalWorker() report no misuse of ours", async () => {
  const reports: unknown[] = [];
  using _ = onMisuse((report) => reports.push(report));

  await withPool(1, async (pool) => {
    await user.run("ann", () => pool.execute({}, "read"));
  });

  assertEquals(reports, []);
});
