import { bindEmitter, ThreadLocal } from "@thread-local/core";
import { EventEmitter } from "node:events";

export const user: ThreadLocal<string> = new ThreadLocal("emitter_test.user", {
  initial: "nobody",
});

export function recorder() {
  const seen: string[] = [];
  return { seen, listener: () => void seen.push(user.get()) };
}

export function target() {
  const target = new EventTarget();
  const unbind = bindEmitter(target);
  return { target, unbind, dispatch: () => void target.dispatchEvent(new Event("done")) };
}

export function emitter() {
  const emitter = new EventEmitter();
  const unbind = bindEmitter(emitter);
  return { emitter, unbind };
}
