import { currentFrame, type Frame } from "../registry/frame.ts";
import { runIn } from "../registry/scope.ts";
import type { WireLimits } from "../registry/wire.ts";
import { isEnvelope, MARK, seal, WireReader, wireText } from "./_envelope.ts";
import { forward } from "./_forward.ts";

/** What {@linkcode bindPort} needs of a port: a `Worker`, a `MessagePort`, a worker's `self` have it. */
export interface Port {
  /** Sends a message to the other end. */
  postMessage(message: unknown, ...options: never[]): void;
  /** Where messages are listened to. */
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  /** Where listening ends. */
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void;
}

/** How a port is bound. */
export interface BindPortOptions {
  /** How much state a message may bring; see {@linkcode WireLimits}. */
  readonly limits?: WireLimits;
}

type Listener = EventListenerOrEventListenerObject;
/** `node:worker_threads` hands over the message itself. */
type NodeListener = (message: unknown) => unknown;

/** A message that came with a state. */
interface Received {
  readonly frame: Frame;
  readonly message: unknown;
}

/**
 * Returns a port that carries the state: `postMessage` sends what the caller binds of the slots
 * declared with `wire` along with the message, and `message` listeners run in the state of the
 * sender. All else is the port's own. Bind both ends: a bound end reads what an unbound one sends,
 * untouched, but not the other way round.
 *
 * Listeners may be added by `addEventListener`, `onmessage` or the `on` and `once` of
 * `node:worker_threads`, and are removed by the function or object that was added. The port itself
 * is not changed: hand the original over where one is to be transferred.
 *
 * @typeParam P The type of the port.
 * @param port A `Worker`, a `MessagePort`, a worker's `self`, or what has their methods.
 * @param options How much is taken from the other end.
 * @returns The bound port. Its `postMessage` throws a `TypeError` if a slot's value cannot be sent.
 * @throws {TypeError} If `port` is not a port, or a limit is not a number.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { bindPort } from "@thread-local/core/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("bindPort.user", { initial: "nobody", wire: true });
 * const { port1, port2 } = new MessageChannel(); // port2 may be in another isolate
 * const [here, there] = [bindPort(port1), bindPort(port2)];
 *
 * const received = new Promise((resolve) => {
 *   there.onmessage = ({ data }) => resolve(`${data} from ${user.get()}`);
 * });
 * user.run("ann", () => here.postMessage("hello"));
 *
 * assertEquals(await received, "hello from ann");
 * here.close();
 * there.close();
 * ```
 */
export function bindPort<P extends Port>(port: P, options: BindPortOptions = {}): P {
  checkPort(port);
  const wires = new WireReader(options.limits);
  const received = new WeakMap<Event, { readonly frame: Frame; readonly event: Event }>();
  const bound = new WeakMap<object, Listener>();
  const boundOfNode = new WeakMap<NodeListener, NodeListener>();
  let onmessage: Listener | null = null;

  const open = (message: unknown): Received | undefined =>
    isEnvelope(message) ? { frame: wires.read(message[MARK]), message: message.data } : undefined;

  /** Opened once for all listeners of one event: they share the data. */
  const openEvent = (event: Event) => {
    let opened = received.get(event);
    if (opened === undefined) {
      const found = open((event as MessageEvent).data);
      if (found === undefined) return undefined;
      const own = { data: found.message, target: self, currentTarget: self, srcElement: self };
      received.set(event, opened = { frame: found.frame, event: forward(event, own) });
    }
    return opened;
  };

  /** The same for each listener however often it is added: the platform then knows it again. */
  const bind = (listener: Listener): Listener => {
    let binding = bound.get(listener);
    if (binding === undefined) {
      binding = (event: Event) => {
        const opened = openEvent(event);
        if (opened === undefined) call(self, listener, event);
        else runIn(opened.frame, call, [self, listener, opened.event]);
      };
      bound.set(listener, binding);
    }
    return binding;
  };

  const bindOfNode = (listener: NodeListener): NodeListener => {
    let binding = boundOfNode.get(listener);
    if (binding === undefined) {
      binding = (message) => {
        const found = open(message);
        return found === undefined
          ? listener.call(self, message)
          : runIn(found.frame, () => listener.call(self, found.message), []);
      };
      boundOfNode.set(listener, binding);
    }
    return binding;
  };

  const own: Record<string, unknown> = {
    postMessage(message: unknown, ...rest: never[]): void {
      port.postMessage(seal(wireText(currentFrame()), message), ...rest);
    },
    addEventListener(type: string, listener: Listener, ...rest: [AddEventListenerOptions?]): void {
      port.addEventListener(type, isMessage(type, listener) ? bind(listener) : listener, ...rest);
    },
    removeEventListener(type: string, listener: Listener, ...rest: [EventListenerOptions?]): void {
      const known = isMessage(type, listener) ? bound.get(listener) ?? listener : listener;
      port.removeEventListener(type, known, ...rest);
    },
    get onmessage(): Listener | null {
      return onmessage;
    },
    set onmessage(listener: Listener | null) {
      onmessage = isMessage("message", listener) ? listener : null;
      Reflect.set(port, "onmessage", onmessage === null ? null : bind(onmessage));
    },
  };
  for (const name of ["on", "once", "off", "addListener", "prependListener", "removeListener"]) {
    const method = Reflect.get(port, name) as unknown;
    if (typeof method !== "function") continue;
    own[name] = (type: string, listener: NodeListener): P => {
      method.call(port, type, type === "message" ? bindOfNode(listener) : listener);
      return self;
    };
  }
  const self: P = forward(port, own);
  return self;
}

function call<P extends Port>(port: P, listener: Listener, event: Event): void {
  if (typeof listener === "function") listener.call(port, event);
  else listener.handleEvent(event);
}

/** Whether it is a listener that runs in the sender's state. */
function isMessage(type: string, listener: Listener | null): listener is Listener {
  return type === "message" &&
    (typeof listener === "function" || typeof listener === "object" && listener !== null);
}

function checkPort(port: Port): void {
  const methods = ["postMessage", "addEventListener", "removeEventListener"] as const;
  const missing = methods.find((name) => typeof port?.[name] !== "function");
  if (missing === undefined) return;
  throw new TypeError(
    `Cannot bind a port: expected a Worker, a MessagePort or a worker's self, got ${
      port === null ? "null" : typeof port
    }${typeof port === "object" && port !== null ? ` without ${missing}()` : ""}`,
  );
}
