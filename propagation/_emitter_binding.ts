import { currentFrame } from "../registry/frame.ts";
import { runIn } from "../registry/scope.ts";
import { shared } from "../registry/shared.ts";

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** An emitter, as what has methods. */
export type Methods = Record<string, Method | undefined>;

/** Methods of one emitter that are replaced for as long as someone holds the binding. */
export abstract class Binding {
  private readonly emitter: Methods;
  /** The calls of `bindEmitter` that are not undone. While there are none, all passes through. */
  private holders = 0;
  private readonly replaced = new Map<string, { own: Method; before?: PropertyDescriptor }>();

  constructor(emitter: Methods) {
    this.emitter = emitter;
  }

  /** The methods to put in the places of those that `emitter` has now. */
  protected abstract replacements(emitter: Methods): Record<string, Method>;

  /** Whether listeners are left that only the replaced methods can remove. */
  protected abstract isNeeded(): boolean;

  /** Whether listeners that are added now are bound. */
  protected get binds(): boolean {
    return this.holders > 0;
  }

  /** Binds what is added from here on, until the result is disposed. */
  hold(): Disposable {
    this.replace();
    this.holders++;
    let held = true;
    return {
      [Symbol.dispose]: (): void => {
        if (!held) return;
        held = false;
        this.holders--;
        this.giveBack();
      },
    };
  }

  private replace(): void {
    const { emitter, replaced } = this;
    for (const [name, own] of Object.entries(this.replacements(emitter))) {
      if (replaced.has(name) || typeof emitter[name] !== "function") continue;
      const before = Object.getOwnPropertyDescriptor(emitter, name);
      Object.defineProperty(emitter, name, { value: own, writable: true, configurable: true });
      replaced.set(name, { own, before });
    }
  }

  /** Puts the emitter's own methods back, if nobody needs the others. */
  protected giveBack(): void {
    if (this.binds || this.isNeeded()) return;
    const { emitter, replaced } = this;
    for (const [name, { own, before }] of replaced) {
      // Where someone else has replaced ours in turn, theirs calls it: it stays, passing through.
      if (Object.getOwnPropertyDescriptor(emitter, name)?.value !== own) continue;
      if (before === undefined) delete emitter[name];
      else Object.defineProperty(emitter, name, before);
      replaced.delete(name);
    }
  }
}

/** Bound listeners of node's emitters: one must not be bound again where `addListener` calls `on`. */
const nodeListeners = shared("node listeners", () => new WeakSet<object>());

/**
 * For an `EventEmitter` of `node:events`. It finds a listener also by the `listener` property of
 * what it keeps, because its own `once` needs that: so bound listeners are removed, counted and
 * listed by the original without our doing.
 */
export class NodeBinding extends Binding {
  protected override isNeeded(): boolean {
    return false;
  }

  protected override replacements(emitter: Methods): Record<string, Method> {
    const { on, addListener, prependListener } = emitter;
    return {
      on: this.adding(on!, bindListener),
      addListener: this.adding(addListener!, bindListener),
      prependListener: this.adding(prependListener!, bindListener),
      // Not by the emitter's own `once`: it would keep a wrapper whose `listener` is ours.
      once: this.adding(on!, bindOnce),
      prependOnceListener: this.adding(prependListener!, bindOnce),
    };
  }

  /** A method that adds, with `add`, what `bind` makes of a listener. */
  private adding(add: Method, bind: BindListener): Method {
    const boundOf = (listener: unknown, emitter: unknown, event: unknown): unknown => {
      if (!this.binds || typeof listener !== "function" || nodeListeners.has(listener)) {
        return listener;
      }
      const bound = bind(listener as Method, emitter as Methods, event);
      nodeListeners.add(bound);
      return bound;
    };
    return function (event, listener, ...rest) {
      return Reflect.apply(add, this, [event, boundOf(listener, this, event), ...rest]);
    };
  }
}

type BindListener = (listener: Method, emitter: Methods, event: unknown) => Method;

function bindListener(listener: Method): Method {
  const frame = currentFrame();
  const bound: Method = function (...args) {
    return runIn(frame, Reflect.apply<unknown, unknown[], unknown>, [listener, this, args]);
  };
  return Object.assign(bound, { listener });
}

function bindOnce(listener: Method, emitter: Methods, event: unknown): Method {
  const bound = bindListener(listener);
  let called = false;
  const once: Method = function (...args) {
    if (called) return;
    called = true;
    emitter.removeListener!(event, once);
    return Reflect.apply(bound, this, args);
  };
  return Object.assign(once, { listener });
}

/** A listener of an `EventTarget`, under one type and phase. */
interface Added {
  readonly bound: Method;
  readonly signal: AbortSignal | undefined;
}

interface ListenerOptions {
  readonly capture?: boolean;
  readonly once?: boolean;
  readonly signal?: AbortSignal;
}

/** For an `EventTarget`. It knows a listener only by its identity, so we keep what we made of it. */
export class TargetBinding extends Binding {
  /**
   * By target, since a prototype may be bound too. Weak: a target lets go of listeners, when a signal
   * aborts, without our seeing it.
   */
  private readonly added = new WeakMap<object, WeakMap<object, Map<string, Added>>>();
  /** How many are in `added`, but for those that a signal has removed. */
  private count = 0;

  protected override isNeeded(): boolean {
    return this.count > 0;
  }

  protected override replacements(emitter: Methods): Record<string, Method> {
    const adding = this.adding(emitter.addEventListener!);
    const removing = this.removing(emitter.removeEventListener!);
    return {
      // The platform's take the global target for none, too.
      addEventListener(...args): void {
        adding(this ?? globalThis, args);
      },
      removeEventListener(...args): void {
        removing(this ?? globalThis, args);
      },
    };
  }

  private adding(add: Method): (target: object, args: unknown[]) => void {
    return (target, args) => {
      const [type, listener, options] = args;
      if (!isListener(listener)) return void Reflect.apply(add, target, args);
      const key = keyOf(type, options);
      const before = this.find(target, listener, key);
      if (before !== undefined) {
        // The target must be given what it has already, to keep it once.
        return void Reflect.apply(add, target, replaced(args, before.bound));
      }
      if (!this.binds) return void Reflect.apply(add, target, args);
      const added = this.bind(target, listener, key, options);
      Reflect.apply(add, target, replaced(args, added.bound));
      if (!added.signal?.aborted) this.keep(target, listener, key, added);
    };
  }

  private removing(remove: Method): (target: object, args: unknown[]) => void {
    return (target, args) => {
      const [type, listener, options] = args;
      // Also what was added before the emitter was bound.
      Reflect.apply(remove, target, args);
      if (!isListener(listener)) return;
      const key = keyOf(type, options);
      const added = this.find(target, listener, key);
      if (added === undefined) return;
      Reflect.apply(remove, target, replaced(args, added.bound));
      this.forget(target, listener, key, added);
    };
  }

  private bind(target: object, listener: object, key: string, options: unknown): Added {
    const frame = currentFrame();
    const { once, signal } = Object(options) as ListenerOptions;
    const forget = (): void => this.forget(target, listener, key, added);
    const bound: Method = function (...args) {
      // The target has removed it already.
      if (once) forget();
      return runIn(frame, callListener, [listener, this, args]);
    };
    const added: Added = { bound, signal };
    return added;
  }

  /** What was made of a listener, if the target still has it. */
  private find(target: object, listener: object, key: string): Added | undefined {
    const added = this.added.get(target)?.get(listener)?.get(key);
    if (added?.signal?.aborted) {
      this.forget(target, listener, key, added);
      return undefined;
    }
    return added;
  }

  private keep(target: object, listener: object, key: string, added: Added): void {
    let ofTarget = this.added.get(target);
    if (ofTarget === undefined) this.added.set(target, ofTarget = new WeakMap());
    let byKey = ofTarget.get(listener);
    if (byKey === undefined) ofTarget.set(listener, byKey = new Map());
    byKey.set(key, added);
    this.count++;
  }

  private forget(target: object, listener: object, key: string, added: Added): void {
    const byKey = this.added.get(target)?.get(listener);
    if (byKey?.get(key) !== added) return;
    byKey.delete(key);
    this.count--;
    this.giveBack();
  }
}

function replaced(args: readonly unknown[], bound: Method): unknown[] {
  return [args[0], bound, ...args.slice(2)];
}

function isListener(listener: unknown): listener is object {
  return typeof listener === "function" || typeof listener === "object" && listener !== null;
}

/** A target keeps a listener once for each type and phase. */
function keyOf(type: unknown, options: unknown): string {
  const capture = typeof options === "boolean"
    ? options
    : (Object(options) as ListenerOptions).capture;
  return `${capture ? "capture" : "bubble"}:${type}`;
}

/** As a target calls one: `handleEvent` is looked up at each event. */
function callListener(listener: object, self: unknown, args: unknown[]): unknown {
  return typeof listener === "function"
    ? Reflect.apply(listener, self, args)
    : (listener as { handleEvent: Method }).handleEvent(...args);
}
