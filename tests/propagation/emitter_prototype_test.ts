import { assertEquals } from "@std/assert";
import { EventEmitter } from "node:events";
import { bindEmitter, ThreadLocal } from "@thread-local/core";

const user = new ThreadLocal("emitter_prototype_test.user", { initial: "nobody" });

Deno.test("bindEmitter() of a prototype keeps the listeners of its EventTargets apart", () => {
  class Jobs extends EventTarget {}
  const seen: string[] = [];
  const listener = () => void seen.push(user.get());
  const [first, second] = [new Jobs(), new Jobs()];
  using _ = bindEmitter(Jobs.prototype);
  user.run("ann", () => first.addEventListener("done", listener));
  user.run("bob", () => second.addEventListener("done", listener));

  second.dispatchEvent(new Event("done"));
  first.removeEventListener("done", listener);
  second.removeEventListener("done", listener);
  first.dispatchEvent(new Event("done"));
  second.dispatchEvent(new Event("done"));

  assertEquals(seen, ["bob"]);
});

Deno.test("bindEmitter() of a prototype binds the listeners of its EventEmitters", () => {
  class Jobs extends EventEmitter {}
  const seen: string[] = [];
  const [first, second] = [new Jobs(), new Jobs()];
  using _ = bindEmitter(Jobs.prototype);
  const listener = () => void seen.push(user.get());
  user.run("ann", () => first.once("done", listener));
  user.run("bob", () => second.on("done", listener));

  first.emit("done");
  second.emit("done");
  second.off("done", listener);

  assertEquals(seen, ["ann", "bob"]);
  assertEquals([first, second].map((jobs) => jobs.listenerCount("done")), [0, 0]);
});
