import { onMisuse, saveThreadLocalState, ThreadLocalStateGuard } from "@thread-local/core";
import { bindPort } from "@thread-local/core/workers";
import { equal, slot, turn } from "./expect.mjs";

/** What holds where state follows async work. */
export const asyncChecks = {
  async "ThreadLocal.run() keeps its binding in everything that it starts"() {
    const user = slot("async", { initial: "nobody" });
    const seen = [];

    await user.run("ann", async () => {
      const note = (what) => seen.push(`${what} ${user.get()}`);
      note("start");
      await null;
      note("await");
      await new Promise((done) => queueMicrotask(() => done(note("microtask"))));
      await new Promise((done) => setTimeout(() => done(note("timer"))));
      await Promise.reject(new Error("expected")).catch(() => note("catch"));
      for await (const n of [1, 2]) note(n);
    });

    equal(
      seen,
      ["start", "await", "microtask", "timer", "catch", "1", "2"].map((what) => `${what} ann`),
    );
    equal(user.get(), "nobody");
  },

  async "100 concurrent flows read their own value only"() {
    const user = slot("flows", { initial: "nobody" });
    const flow = async (name) => {
      const seen = [];
      for (let n = 0; n < 5; n++) {
        await (n % 2 === 0 ? turn() : null);
        seen.push(user.get());
      }
      return seen.every((each) => each === name);
    };

    const names = Array.from({ length: 100 }, (_, n) => `user ${n}`);
    const right = await Promise.all(names.map((name) => user.run(name, flow, name)));

    equal(right.filter((each) => !each).length, 0);
  },

  async "ThreadLocal.enter() reaches neither the caller nor siblings, nor what follows a throw"() {
    const user = slot("enter", { initial: "nobody" });
    const handle = async (name, fails) => {
      const guard = await user.enter(name);
      const close = guard[Symbol.dispose];
      try {
        await turn();
        if (fails) throw new Error(user.get());
        return user.get();
      } finally {
        close.call(guard);
      }
    };

    const handled = Promise.allSettled([handle("ann"), handle("bob", true), handle("cat")]);
    equal(user.get(), "nobody");
    const [ann, bob, cat] = await handled;

    equal([ann.value, bob.reason.message, cat.value], ["ann", "bob", "cat"]);
    equal([user.get(), user.isBound()], ["nobody", false]);
  },

  async "ThreadLocalStateGuard.enter() holds for the rest of an async function"() {
    const user = slot("state_guard.async", { initial: "nobody" });
    const state = user.run("ann", saveThreadLocalState);
    const handle = async () => {
      const guard = await ThreadLocalStateGuard.enter(state);
      const close = guard[Symbol.dispose];
      await turn();
      const seen = user.get();
      close.call(guard);
      return [seen, user.get()];
    };

    equal(await handle(), ["ann", "nobody"]);
    equal(user.get(), "nobody");
  },

  async "ThreadLocalState.run() carries a state to another flow"() {
    const user = slot("carried", { initial: "nobody" });
    const state = user.run("ann", saveThreadLocalState);

    const seen = await user.run("bob", async () => {
      await turn();
      return [
        await state.run(async () => {
          await turn();
          return user.get();
        }),
        user.get(),
      ];
    });

    equal(seen, ["ann", "bob"]);
  },

  async "ThreadLocal.set() after an await stays in its flow"() {
    const user = slot("set.async", { initial: "nobody" });
    const handle = async (name) => {
      await turn();
      user.set(name);
      await turn();
      return user.get();
    };

    equal(await Promise.all([handle("ann"), handle("bob")]), ["ann", "bob"]);
    equal(user.get(), "nobody");
  },

  async "a guard across an await is reported before it is closed"() {
    const user = slot("across", { initial: "nobody" });
    const reports = [];
    const listening = onMisuse(({ kind }) => reports.push(kind));

    await turn();
    const guard = user.with("ann");
    const close = guard[Symbol.dispose];
    await turn();
    equal(reports, ["guard-across-await"]);
    close.call(guard);
    listening[Symbol.dispose]();

    equal([user.get(), reports.length], ["nobody", 1]);
  },

  async "bindPort() runs a listener in the state of the sender"() {
    const user = slot("port", { initial: "nobody", wire: true });
    const { port1, port2 } = new MessageChannel();
    const [here, there] = [bindPort(port1), bindPort(port2)];

    const received = new Promise((resolve) => {
      there.onmessage = ({ data }) => resolve([data, user.get()]);
    });
    user.run("ann", () => here.postMessage("hello"));

    equal(await received, ["hello", "ann"]);
    here.close();
    there.close();
  },
};
