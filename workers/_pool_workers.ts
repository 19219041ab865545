import type { FixedThreadPool } from "poolifier-web-worker";
import { shared } from "../registry/shared.ts";
import type { WorkerNumber } from "../registry/thread.ts";
import { isEnvelope, MARK } from "./_envelope.ts";
import { awaitLock } from "./_liveness.ts";
import { WorkerLostError } from "./errors.ts";

/** What the adapter uses of a pool: a dynamic pool is a fixed one with more. */
export type Pool = FixedThreadPool<unknown, unknown>;
type PoolNode = Pool["workerNodes"][number];
type Message = Parameters<Pool["sendToWorker"]>[1];
type TaskId = NonNullable<Message["taskId"]>;

const WORKERS = 2 ** 16 - 1;
const THREADS = 2 ** 32;

const given = shared("worker numbers", () => ({ count: 0 }));

/**
 * A number that no other worker of this isolate has: 65,535 of them, and then the same again with
 * threads counted from further on. Ids stay unique for as long as no worker begins 2³² threads.
 */
function nextWorkerNumber(): WorkerNumber {
  const index = given.count++;
  return { worker: index % WORKERS + 1, base: Math.floor(index / WORKERS) * THREADS };
}

/** One worker of a pool, and the tasks that it has not answered. */
class PoolWorker {
  private readonly number = nextWorkerNumber();
  private readonly tasks = new Map<TaskId, string | undefined>();
  private readonly over = new AbortController();
  private introduced = false;
  private why = "it was terminated";
  /** Where it stood among the pool's workers when it ended. */
  private key = -1;

  constructor(private readonly pool: Pool, private readonly node: PoolNode) {
    this.listenToErrors();
    this.listenToEnd();
    // As the pool itself does with its first workers: what is sent before it listens waits for it.
    // Else a pool whose only worker is being replaced would refuse every task.
    node.info.ready = true;
    node.addEventListener("message", (event) => {
      this.receive((event as MessageEvent<Message & { [MARK]?: unknown }>).data);
    });
    node.addEventListener("exit", () => this.closeGap(), { once: true });
  }

  /** Sends a message as `send` does; a task that cannot be sent fails. */
  send(message: Message, send: () => void): void {
    const { taskId, data, name } = message;
    if (taskId === undefined || data === undefined) return send();
    if (!this.introduced && isEnvelope(data)) data.worker = this.number;
    this.tasks.set(taskId, name === "default" ? undefined : name);
    this.noteKey(taskId);
    if (this.node.messageChannel === undefined) {
      this.fail(taskId, new WorkerLostError(this.tasks.get(taskId), this.why));
      return;
    }
    try {
      send();
    } catch (error) {
      // The pool has counted the task as begun, and would take the worker for busy ever after.
      this.fail(taskId, error);
    }
  }

  private receive({ taskId, [MARK]: lock }: Message & { [MARK]?: unknown }): void {
    if (taskId !== undefined) this.tasks.delete(taskId);
    if (lock === undefined || this.introduced) return;
    this.introduced = true;
    if (typeof lock === "string") awaitLock(lock, this.over.signal, () => this.end("it exited"));
  }

  private listenToErrors(): void {
    const { worker } = this.node;
    const handle = worker.onerror;
    worker.onerror = (event) => {
      // Else the platform lets it end this isolate too. The callers of the tasks get it, and the
      // pool emits it.
      event.preventDefault();
      this.why = `an error escaped in it: ${event.message}`;
      handle?.call(worker, event);
    };
    // Where the platform has this event.
    worker.addEventListener("close", () => this.end("it exited"));
  }

  /** Makes `terminate`, whoever calls it, the one place where the worker ends. */
  private listenToEnd(): void {
    const { node } = this;
    const { worker } = node;
    const port = node.messageChannel?.port1;
    const terminate = worker.terminate;
    worker.terminate = () => {
      if (this.over.signal.aborted) return terminate.call(worker);
      this.over.abort();
      this.key = this.pool.workerNodes.indexOf(node);
      this.failAll();
      // What is still on its way would throw in the pool, to whom the worker is unknown by then.
      if (port !== undefined) port.onmessage = null;
      terminate.call(worker);
      // Not called by the node itself: the pool does not know yet.
      if (node.messageChannel !== undefined) node.terminate();
    };
  }

  private end(why: string): void {
    if (this.over.signal.aborted) return;
    this.why = why;
    this.node.terminate();
  }

  private failAll(): void {
    for (const [taskId, name] of this.tasks) {
      this.fail(taskId, new WorkerLostError(name, this.why));
    }
    for (const { taskId, name } of this.node.tasksQueue) {
      if (taskId !== undefined) this.fail(taskId, new WorkerLostError(name, this.why));
    }
    this.node.clearTasksQueue();
  }

  /** Answers in the worker's place, so that the pool keeps its own books. */
  private fail(taskId: TaskId, error: unknown): void {
    const name = this.tasks.get(taskId);
    this.node.dispatchEvent(
      new MessageEvent("message", {
        data: {
          workerId: this.node.info.id,
          taskId,
          name,
          workerError: { aborted: false, error, name },
        },
      }),
    );
  }

  /**
   * The pool notes with each task where its worker stands, and reads it when the answer comes. It
   * forgets to do so for a task that another worker takes over.
   */
  private noteKey(taskId: TaskId): void {
    const key = this.pool.workerNodes.indexOf(this.node);
    const noted = this.pool["promiseResponseMap"].get(taskId);
    if (noted === undefined || noted.workerNodeKey === key) return;
    this.pool["promiseResponseMap"].set(taskId, { ...noted, workerNodeKey: key });
  }

  /** The workers behind this one have moved up by one: so must what the pool noted of them. */
  private closeGap(): void {
    if (this.key < 0) return;
    for (const [taskId, noted] of this.pool["promiseResponseMap"]) {
      const { workerNodeKey } = noted;
      if (workerNodeKey <= this.key) continue;
      this.pool["promiseResponseMap"].set(taskId, { ...noted, workerNodeKey: workerNodeKey - 1 });
    }
  }
}

/** Watches over the workers that the pool has, and those that it will start. */
export function watchWorkers(pool: Pool): void {
  const workers = new WeakMap<PoolNode, PoolWorker>();
  const workerOf = (node: PoolNode): PoolWorker => {
    let worker = workers.get(node);
    if (worker === undefined) workers.set(node, worker = new PoolWorker(pool, node));
    return worker;
  };
  const send = pool["sendToWorker"];
  // Everything that the pool sends goes through here; a new worker's first message follows its start.
  pool["sendToWorker"] = (key, message, transferList) => {
    const node = pool.workerNodes[key];
    const sendOn = () => send.call(pool, key, message, transferList);
    if (node === undefined) sendOn();
    else workerOf(node).send(message, sendOn);
  };
  pool.workerNodes.forEach(workerOf);
}
