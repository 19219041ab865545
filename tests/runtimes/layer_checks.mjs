import {
  bindEmitter,
  bindIterator,
  bindThreadLocalState,
  currentNode,
  currentThread,
  fork,
  Node,
  parallelFor,
  RankLocal,
  saveThreadLocalState,
  ThreadLocalState,
} from "@thread-local/core";
import { InferenceMode, isGradEnabled, NoGradGuard } from "@thread-local/core/guards";
import { addGlobalObserver, recordFunction, removeObserver } from "@thread-local/core/observers";
import { equal, slot, using } from "./expect.mjs";

/** What stands on the core, as far as it holds without asynchronous context too. */
export const layerChecks = {
  "bindThreadLocalState() restores the state of the binding"() {
    const user = slot("bound", { initial: "nobody" });

    const read = user.run("ann", () => bindThreadLocalState(() => user.get()));

    equal([read(), user.run("bob", read)], ["ann", "ann"]);
  },

  "bindIterator() runs each step in the state of the binding"() {
    const user = slot("steps", { initial: "nobody" });
    function* read() {
      yield user.get();
      yield user.get();
    }

    equal([...user.run("ann", () => bindIterator(read()))], ["ann", "ann"]);
  },

  "bindEmitter() calls a listener where it was added"() {
    const user = slot("emitter", { initial: "nobody" });
    const seen = [];
    const target = new EventTarget();
    bindEmitter(target);
    const listener = () => seen.push(user.get());
    user.run("ann", () => target.addEventListener("x", listener));

    target.dispatchEvent(new Event("x"));
    target.removeEventListener("x", listener);
    target.dispatchEvent(new Event("x"));

    equal(seen, ["ann"]);
  },

  async "fork() is a thread of its own, which applies the policies of slots"() {
    const kept = slot("fork.kept", { initial: 0 });
    const left = slot("fork.left", { initial: 0, inherit: false });
    const copied = slot("fork.copied", { initial: 0, fork: (value) => value + 1 });
    const parent = currentThread();

    const seen = await kept.run(
      1,
      () =>
        left.run(
          1,
          () =>
            copied.run(1, () =>
              fork(() => [kept.get(), left.get(), copied.get(), currentThread().parentId])),
        ),
    );

    equal(seen, [1, 0, 2, parent.id]);
    equal(currentThread(), parent);
  },

  async "parallelFor() gives every chunk the caller's state"() {
    const user = slot("loop", { initial: "nobody" });

    const chunks = await user.run("ann", () =>
      parallelFor(
        { begin: 0, end: 5, grainSize: 2 },
        (begin, end) => `${user.get()} ${begin} ${end}`,
      ));

    equal(chunks, ["ann 0 2", "ann 2 4", "ann 4 5"]);
  },

  async "a node finds the state and the instances of its forward thread"() {
    const user = slot("node", { initial: "nobody" });
    const local = new RankLocal("smoke.local", () => ({}));

    const [own, node] = await fork(() =>
      user.run("ann", () => [
        local.get(),
        new Node("mul", () => [local.get(), user.get(), currentNode()]),
      ])
    );

    equal(node.evaluate(), [own, "ann", node]);
    equal([local.get() === own, currentNode()], [false, undefined]);
  },

  "a state crosses as JSON text"() {
    const user = slot("wire", { initial: "nobody", wire: true });
    const secret = slot("secret", { initial: "none" });
    const state = user.run("ann", () => secret.run("x", saveThreadLocalState));

    const received = ThreadLocalState.fromWire(JSON.stringify(state.toWire()));

    equal([received.get(user), received.has(secret)], ["ann", false]);
  },

  "PyTorch's guards bind for a block"() {
    equal(using(new NoGradGuard(), isGradEnabled), false);
    equal(InferenceMode.run(true, isGradEnabled), false);
    equal(isGradEnabled(), true);
  },

  async "recordFunction() tells an observer of a range"() {
    const events = [];
    const handle = addGlobalObserver({
      start: ({ name }) => events.push(name),
      end: ({ outputs: [output] }) => events.push(output),
      needsOutputs: true,
    });

    equal(recordFunction("add", {}, () => 3), 3);
    await removeObserver(handle);

    equal(events, ["add", 3]);
  },
};
