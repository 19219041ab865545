import { saveThreadLocalState, ThreadLocalStateGuard } from "@thread-local/core";
import { equal, slot, turn } from "./expect.mjs";

/** What holds where state cannot follow async work, and the library must say so. */
export const synchronousChecks = {
  async "ThreadLocal.enter() rejects with a TypeError that says what to use"() {
    const user = slot("sync.enter", { initial: "nobody" });

    const error = await user.enter("ann").then(() => undefined, (reason) => reason);

    equal(error instanceof TypeError, true);
    equal(["synchronous", "await", "run("].every((word) => error.message.includes(word)), true);
    equal(user.get(), "nobody");
  },

  async "ThreadLocalStateGuard.enter() rejects with a TypeError"() {
    const error = await ThreadLocalStateGuard.enter(saveThreadLocalState())
      .then(() => undefined, (reason) => reason);

    equal(error instanceof TypeError, true);
  },

  async "a binding is gone after an await, never another flow's"() {
    const user = slot("sync.gone", { initial: "nobody" });
    const flow = async () => {
      const before = user.get();
      await null;
      return [before, user.get()];
    };

    const flows = [user.run("ann", flow), user.run("bob", flow)];

    equal(await Promise.all(flows), [["ann", "nobody"], ["bob", "nobody"]]);
  },

  async "ThreadLocal.set() is gone in the next turn"() {
    const user = slot("sync.set", { initial: "nobody" });

    user.set("ann");
    equal(user.get(), "ann");
    await turn();

    equal(user.get(), "nobody");
  },
};
