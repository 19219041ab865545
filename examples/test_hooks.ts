/**
 * My before-each hook cannot set the user for the test: what do I do?
 *
 * A runner awaits the hook and then calls the test: these are two flows, and what one binds is not
 * the other's. Wrap the body of the test instead.
 */
import { ThreadLocal } from "@thread-local/core";

const user = new ThreadLocal("test_hooks.user", { initial: "nobody" });

type Body = () => Promise<void>;

/** A test's body, run as `name`: `it("…", asUser("ann", async () => { … }))`. */
function asUser(name: string, body: Body): Body {
  return () => user.run(name, body);
}

/** What every runner does with a hook and a test. */
async function runTest(beforeEach: Body, body: Body): Promise<void> {
  await beforeEach();
  await body();
}

/** The body of a test that needs its user. */
function expectUser(name: string): Body {
  return async () => {
    await new Promise((resolve) => setTimeout(resolve));
    if (user.get() !== name) throw new Error(`expected ${name}, got ${user.get()}`);
  };
}

async function signIn(name: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve)); // reads the user from a database
  user.set(name);
}

const names = Array.from({ length: 200 }, (_, index) => `user-${index}`);

/** How many of 200 tests at once fail. */
async function countFailed(test: (name: string) => Promise<void>): Promise<number> {
  const outcomes = await Promise.allSettled(names.map(test));
  return outcomes.filter(({ status }) => status === "rejected").length;
}

const noHook = async () => {};
const failed = await countFailed((name) => runTest(noHook, asUser(name, expectUser(name))));
const failedHook = await countFailed((name) => runTest(() => signIn(name), expectUser(name)));

console.log(`test_hooks: ${failed} of ${names.length} tests ran as the wrong user`);
console.log(`  (${failedHook} where a before-each hook sets the user)`);
Deno.exitCode = failed === 0 && failedHook > 0 ? 0 : 1;
