import { onMisuse, saveThreadLocalState, scoped, ThreadLocalStateGuard } from "@thread-local/core";
import { equal, parses, slot, thrown, turn, using } from "./expect.mjs";

/** What holds for guards on every runtime. */
export const guardChecks = {
  "a guard binds when it is taken, and its end is idempotent"() {
    const user = slot("guard", { initial: "nobody" });

    const guard = user.with("ann");
    equal(user.get(), "nobody");
    const close = guard[Symbol.dispose];
    equal(user.get(), "ann");
    close.call(guard);
    close.call(guard);

    equal([user.get(), user.isBound()], ["nobody", false]);
    equal(thrown(() => guard[Symbol.dispose]) instanceof TypeError, true);
  },

  "guards nest, also where their scope throws"() {
    const user = slot("nested", { initial: "nobody" });

    using(user.with("ann"), () => {
      const error = thrown(() =>
        using(user.with("bob"), () => {
          throw new Error(user.get());
        })
      );
      equal([error.message, user.get()], ["bob", "ann"]);
    });

    equal(user.get(), "nobody");
  },

  "ThreadLocalStateGuard brings a state, and the previous one back"() {
    const user = slot("state_guard", { initial: "nobody" });
    const state = user.run("ann", saveThreadLocalState);

    user.run("bob", () => {
      equal(using(new ThreadLocalStateGuard(state), () => user.get()), "ann");
      equal(user.get(), "bob");
    });
  },

  ...(typeof DisposableStack === "function" && {
    "DisposableStack takes guards"() {
      const user = slot("stack", { initial: "nobody" });
      const stack = new DisposableStack();

      stack.use(user.with("ann"));
      stack.use(user.with("bob"));
      equal(user.get(), "bob");
      stack.dispose();

      equal(user.get(), "nobody");
    },
  }),

  ...(parses("{ using _ = null; }") && {
    "the keyword using takes guards"() {
      const user = slot("keyword", { initial: "nobody" });
      const block = new Function("user", '{ using _ = user.with("ann"); return user.get(); }');

      equal([block(user), user.get()], ["ann", "nobody"]);
    },
  }),

  async "onMisuse() reports guards out of order, left open and across an await"() {
    const user = slot("misuse", { initial: "nobody" });
    const reports = [];
    const listening = onMisuse(({ kind, key, stack }) => reports.push([kind, key, typeof stack]));

    scoped(() => {
      const outer = user.with("outer");
      const inner = user.with("inner");
      const closeOuter = outer[Symbol.dispose];
      const closeInner = inner[Symbol.dispose];
      closeOuter.call(outer);
      closeInner.call(inner);
    });
    scoped(() => void user.with("left open")[Symbol.dispose]);
    await scoped(async () => {
      const guard = user.with("across");
      const close = guard[Symbol.dispose];
      await turn();
      close.call(guard);
    });
    listening[Symbol.dispose]();

    equal(reports.map(([kind]) => kind), [
      "guard-out-of-order",
      "guard-left-open",
      "guard-left-open", // The async function returned its promise with the guard open.
    ]);
    equal(reports.every(([, key, stack]) => key === "smoke.misuse" && stack === "string"), true);
    equal(user.get(), "nobody");
  },

  "misuse with nobody listening warns once a site"() {
    const user = slot("warned", { initial: "nobody" });
    const warned = [];
    const { warn } = console;
    console.warn = (text) => warned.push(text);

    try {
      for (let n = 0; n < 3; n++) scoped(() => void user.with("left open")[Symbol.dispose]);
    } finally {
      console.warn = warn;
    }

    equal(warned.length, 1);
    equal(warned[0].includes('"smoke.warned"'), true);
  },
};
