/**
 * Imports the library as its users do, from JSR by name. `links` in deno.json puts this working
 * copy in the place of the published package.
 *
 * @module
 */
import { registry, saveThreadLocalState, type ThreadLocal } from "@thread-local/core";
import { isGradEnabled, NoGradGuard, ThreadLocalStateGuard } from "@thread-local/core/guards";
import { addGlobalObserver, recordFunction, removeObserver } from "@thread-local/core/observers";
import { detached, fork } from "@thread-local/core/propagation";
import { Node, RankLocal } from "@thread-local/core/rank-local";
import { ThreadLocal as SameThreadLocal } from "@thread-local/core/registry";
import { bindPort } from "@thread-local/core/workers";
import { attempt, user } from "./slots.ts";

function expect(what: string, actual: unknown, expected: unknown): void {
  if (Object.is(actual, expected)) console.log(`ok: ${what}`);
  else throw new Error(`${what}: expected ${expected}, got ${actual}`);
}

// Types: looked up by key, a slot has the type that slots.ts gave to the key.
const typed: ThreadLocal<string> | undefined = registry.get("consumer.user");
// @ts-expect-error It is not a slot of numbers.
const mistyped: ThreadLocal<number> | undefined = registry.get("consumer.user");
const untyped: ThreadLocal<unknown> | undefined = registry.get("consumer.undeclared");

expect("registry.get() finds the slot", typed, user);
expect("whatever type is asked for", mistyped, user);
expect("registry.get() of an unknown key", untyped, undefined);
expect("the subpath exports the same class", user instanceof SameThreadLocal, true);

async function handle(): Promise<string> {
  using _ = await attempt.enter(2);
  await new Promise((resolve) => setTimeout(resolve));
  return `${user.get()} ${attempt.get()}`;
}

const [ann, bob] = await Promise.all([user.run("ann", handle), user.run("bob", handle)]);
expect("the first flow sees its own user", ann, "ann 2");
expect("and so does the second", bob, "bob 2");
expect("the caller sees neither", `${user.get()} ${attempt.get()}`, "nobody 1");

const state = user.run("cat", saveThreadLocalState);
{
  using _ = new ThreadLocalStateGuard(state);
  expect("a guard restores a saved state", user.get(), "cat");
  expect("detached() sees nothing of it", detached(() => user.get()), "nobody");
}
expect("and its end brings the previous one back", user.get(), "nobody");

const rank = new RankLocal("consumer.rank", () => ({}));
const [own, node] = await fork(() => [rank.get(), new Node("mul", () => rank.get())] as const);
expect("a node finds its forward thread's instance", node.evaluate(), own);
expect("which is not this thread's", rank.get() === own, false);

{
  using _ = new NoGradGuard();
  expect("PyTorch's guards bind", isGradEnabled(), false);
}

const ranges: string[] = [];
const observer = addGlobalObserver({ start: ({ name }) => ranges.push(name) });
recordFunction("add", {}, () => 1 + 2);
await removeObserver(observer);
expect("an observer is told of a range", ranges.join(), "add");

const { port1, port2 } = new MessageChannel();
const [here, there] = [bindPort(port1), bindPort(port2)];
const received = new Promise<string>((resolve) => {
  there.onmessage = () => resolve(user.get());
});
user.run("dan", () => here.postMessage("hello"));
expect("a message brings its sender's state", await received, "dan");
here.close();
there.close();
