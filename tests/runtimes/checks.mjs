// Plain JavaScript: Node 20 and 22 cannot parse `using`.
import * as core from "@thread-local/core";
import * as guardsPart from "@thread-local/core/guards";
import * as propagationPart from "@thread-local/core/propagation";
import * as rankLocalPart from "@thread-local/core/rank-local";
import * as registryPart from "@thread-local/core/registry";
// @ts-expect-error A name that only the project with the packed library has.
import * as secondCopy from "second-copy";
import { equal, slot, thrown, using } from "./expect.mjs";

const {
  contextStorage,
  detached,
  DuplicateSlotError,
  registry,
  restoreThreadLocalState,
  saveThreadLocalState,
  scoped,
  ThreadLocal,
  ThreadLocalState,
  ThreadLocalStateGuard,
} = core;

/** What holds on every runtime, by what it shows. */
export const checks = {
  "new ThreadLocal() refuses a second declaration of a key"() {
    new ThreadLocal("smoke.twice", { initial: 1 });

    const error = thrown(() => new ThreadLocal("smoke.twice", { initial: 2 }));

    equal(error instanceof DuplicateSlotError, true);
    const sites = [error.firstSite, error.secondSite];
    equal(sites.every((site) => /(?:checks\.mjs|bundle\.js):\d+:\d+$/.test(site)), true);
  },

  "new ThreadLocal() with shared: true is one slot"() {
    const options = { initial: 1, shared: true };

    equal(slot("shared", options), slot("shared", options));
  },

  "init() is evaluated once, on the first read, and again if it threw"() {
    let evaluated = 0;
    const lazy = slot("lazy", {
      init() {
        if (++evaluated === 1) throw new Error("not yet");
        return evaluated;
      },
    });

    equal(evaluated, 0);
    equal(thrown(() => lazy.get()).message, "not yet");
    equal([lazy.get(), lazy.get()], [2, 2]);
  },

  "registry finds slots by key"() {
    const found = slot("found", { initial: 0 });

    equal(registry.get("smoke.found"), found);
    equal(registry.has("smoke.absent"), false);
    equal([...registry.keys()].includes("smoke.found"), true);
    equal([...registry].includes(found), true);
  },

  "ThreadLocal.run() passes arguments, returns, rethrows and unbinds"() {
    const user = slot("run", { initial: "nobody" });

    equal(user.run("ann", (a, b) => [user.get(), a, b], 1, 2), ["ann", 1, 2]);
    equal(
      thrown(() =>
        user.run("ann", () => {
          throw new Error("mine");
        })
      ).message,
      "mine",
    );
    equal(user.isBound(), false);
  },

  "ThreadLocal.run() of undefined is a binding"() {
    const user = slot("undefined", { initial: "nobody" });

    equal(user.run(undefined, () => [user.get(), user.isBound()]), [undefined, true]);
  },

  "ThreadLocal.set() and clear() hold until the scope ends"() {
    const user = slot("set", { initial: "nobody" });

    scoped(() => {
      user.set("ann");
      equal(user.get(), "ann");
      user.clear();
      equal([user.get(), user.isBound()], ["nobody", false]);
      user.set("bob");
    });

    equal(user.get(), "nobody");
  },

  "scoped() in the frame that is current already confines too"() {
    const user = slot("scoped", { initial: "nobody" });

    user.run("ann", () => {
      scoped(() => user.set("bob"));
      equal(user.get(), "ann");
    });
  },

  "detached() has nothing bound"() {
    const user = slot("detached", { initial: "nobody" });

    equal(user.run("ann", () => [detached(() => user.get()), user.get()]), ["nobody", "ann"]);
  },

  "many slots are bound and read apart"() {
    const many = Array.from({ length: 100 }, (_, n) => slot(`many.${n}`, { initial: -1 }));

    const bindFrom = (n) => n === 100 ? many.map((s) => s.get()) : many[n].run(n, bindFrom, n + 1);

    equal(bindFrom(0), many.map((_, n) => n));
    equal(many[99].get(), -1);
  },

  "restoreThreadLocalState() replaces or merges"() {
    const user = slot("restore.user", { initial: "nobody" });
    const locale = slot("restore.locale", { initial: "en" });
    const state = user.run("ann", saveThreadLocalState);

    locale.run("fr", () => {
      restoreThreadLocalState(state, { mode: "merge" });
      equal([user.get(), locale.get()], ["ann", "fr"]);
      restoreThreadLocalState(state);
      equal([user.get(), locale.get()], ["ann", "en"]);
    });

    equal(user.get(), "nobody");
  },

  "a state gives a slot declared later its initial value"() {
    const state = saveThreadLocalState();
    const late = slot("late", { initial: "initial" });

    equal(late.run("bound", () => state.run(() => late.get())), "initial");
  },

  "ThreadLocalState is immutable: with, without, pick, omit, iteration"() {
    const a = slot("state.a", { initial: 0 });
    const b = slot("state.b", { initial: 0 });
    const state = a.run(1, () => b.run(2, saveThreadLocalState));

    equal(state.with(a, 5).get(a), 5);
    equal([state.without(a).has(a), state.has(a), state.get(a)], [false, true, 1]);
    equal([...state.pick(b)], [[b, 2]]);
    equal([...state.omit(b)], [[a, 1]]);
    equal([state.size, state instanceof ThreadLocalState], [2, true]);
  },

  "bad input is a TypeError and changes nothing"() {
    const user = slot("bad", { initial: "nobody" });

    const errors = [
      () => new ThreadLocal("", { initial: 0 }),
      () => new ThreadLocal(Symbol("key"), { initial: 0 }),
      () => user.run("ann", "not a function"),
      () => scoped(1),
      () => restoreThreadLocalState({}),
      () => new ThreadLocalStateGuard(null),
    ].map(thrown);

    equal(errors.every((error) => error instanceof TypeError), true);
    equal([user.get(), user.isBound()], ["nobody", false]);
  },

  "a second copy of the package shares slots, state and the current frame"() {
    equal(secondCopy.ThreadLocal === ThreadLocal, false);
    const user = slot("copies", { initial: "nobody" });

    const same = secondCopy.registry.get("smoke.copies");
    const state = user.run("ann", secondCopy.saveThreadLocalState);

    equal(same, user);
    equal(state.get(user), "ann");
    equal(
      using(new ThreadLocalStateGuard(state), () => secondCopy.scoped(() => user.get())),
      "ann",
    );
    equal(secondCopy.contextStorage, contextStorage);
  },

  "the subpaths export what the package does"() {
    const exported = Object.entries({
      ...registryPart,
      ...guardsPart,
      ...propagationPart,
      ...rankLocalPart,
    });

    equal(exported.length > 10, true);
    equal(exported.filter(([name, value]) => core[name] !== value), []);
  },
};
