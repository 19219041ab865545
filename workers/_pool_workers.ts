import type { FixedThreadPool } from "poolifier-web-worker";
import { ROOT } from "../registry/frame.ts";
import { runIn } from "../registry/scope.ts";
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

/** One worker of a pool, from its start to its end. */
class PoolWorker {
  private readonly number = nextWorkerNumber();
  private readonly over = new AbortController();
  private introduced = false;
  private why = "it was terminated";

  constructor(private readonly pool: Pool, private readonly node: PoolNode) {
    this.listenToErrors();
    this.listenToEnd();
    // As the pool itself does with its first workers: what is sent before it listens waits for it.
    // Else a pool whose only worker is being replaced would refuse every task.
    node.info.ready = true;
    node.addEventListener("message", this);
  }

  /** Sends what the pool sends; a task that cannot be sent fails. */
  send(key: number, message: Message, transferList?: readonly Transferable[]): void {
    const { taskId, data } = message;
    const isTask = taskId !== undefined && data !== undefined;
    if (isTask) {
      if (!this.introduced && isEnvelope(data)) data.worker = this.number;
      this.noteKey(taskId, key);
    }
    try {
      const { id: workerId } = this.node.info;
      // Of a task, what the worker reads; the rest is for the pool, and costs as much to clone.
      const sent = isTask
        ? { abortable: message.abortable, name: message.name, data, taskId, workerId }
        : { ...message, workerId };
      const { port1 } = this.node.messageChannel!;
      // The platform has a quick way for a single argument.
      if (transferList === undefined) port1.postMessage(sent);
      else port1.postMessage(sent, transferList as Transferable[]);
    } catch (error) {
      if (!isTask) throw error;
      // The pool has counted the task as begun, and would take the worker for busy ever after.
      this.fail(taskId, error);
    }
  }

  /** Waits for the worker to introduce itself, which it does before its first task. */
  handleEvent(event: Event): void {
    const lock = (event as MessageEvent<{ [MARK]?: unknown }>).data[MARK];
    if (lock === undefined) return;
    this.introduced = true;
    this.node.removeEventListener("message", this);
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
      const key = this.pool.workerNodes.indexOf(node);
      this.failAll(key);
      node.addEventListener("exit", () => this.closeGap(key), { once: true });
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

  /** Fails the tasks that it runs, and those that wait for it. */
  private failAll(key: number): void {
    const elsewhere = new Set<TaskId | undefined>();
    for (const node of this.pool.workerNodes) {
      if (node === this.node) continue;
      for (const { taskId } of node.tasksQueue) elsewhere.add(taskId);
    }
    const own = new Set<TaskId | undefined>();
    for (const { taskId } of this.node.tasksQueue) own.add(taskId);
    this.node.clearTasksQueue();
    for (const [taskId, { workerNodeKey }] of this.pool["promiseResponseMap"]) {
      if (workerNodeKey === key ? elsewhere.has(taskId) : !own.has(taskId)) continue;
      this.fail(taskId, new WorkerLostError(undefined, this.why));
    }
  }

  /** Answers in the worker's place, so that the pool keeps its own books. */
  private fail(taskId: TaskId, error: unknown): void {
    const { id: workerId } = this.node.info;
    const workerError = { aborted: false, error };
    this.node.dispatchEvent(
      new MessageEvent("message", { data: { workerId, taskId, workerError } }),
    );
  }

  /**
   * The pool notes with each task where its worker stands, and reads it when the answer comes. It
   * forgets to do so for a task that another worker takes over.
   */
  private noteKey(taskId: TaskId, key: number): void {
    const noted = this.pool["promiseResponseMap"].get(taskId);
    if (noted === undefined || noted.workerNodeKey === key) return;
    this.pool["promiseResponseMap"].set(taskId, { ...noted, workerNodeKey: key });
  }

  /** The workers behind this one have moved up by one: so must what the pool noted of them. */
  private closeGap(key: number): void {
    if (key < 0) return;
    for (const [taskId, noted] of this.pool["promiseResponseMap"]) {
      const { workerNodeKey } = noted;
      if (workerNodeKey <= key) continue;
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
  // Everything that the pool sends goes through here; a new worker's first message follows its start.
  pool["sendToWorker"] = (key, message, transferList) => {
    const node = pool.workerNodes[key];
    if (node !== undefined) workerOf(node).send(key, message, transferList);
  };
  // A worker that a caller's task makes the pool start must not keep that caller's state.
  const create = pool["createAndSetupWorkerNode"];
  pool["createAndSetupWorkerNode"] = () => runIn(ROOT, () => create.call(pool), []);
  pool.workerNodes.forEach(workerOf);
}
