import { assert, assertEquals, assertThrows } from "@std/assert";
import { scoped, ThreadLocal } from "@thread-local/core";
import {
  addGlobalObserver,
  addThreadLocalObserver,
  type ObserverHandle,
  RecordFunction,
  recordFunction,
  removeObserver,
} from "@thread-local/core/observers";
import { book } from "../../observers/registration.ts";
import { storage } from "../../registry/frame.ts";

const user = new ThreadLocal("disturb_test.user", { initial: "nobody" });

Deno.test("RecordFunction keeps what an observer binds from the operator", () => {
  using cleanUp = new DisposableStack();
  const handle = addGlobalObserver({
    start: () => user.set("start"),
    end: () => user.set("end"),
  });
  cleanUp.defer(() => void removeObserver(handle));

  const seen = user.run("ann", () => [recordFunction("op", {}, () => user.get()), user.get()]);

  assertEquals(seen, ["ann", "ann"]);
});

Deno.test("removeObserver() within a start of the same range waits for that range", async () => {
  const events: string[] = [];
  let drained: Promise<void> | undefined;
  const second: { handle?: ObserverHandle } = {};
  const first = addGlobalObserver({
    start() {
      drained = removeObserver(second.handle!);
      drained.then(() => events.push("drained"));
    },
  });
  second.handle = addGlobalObserver({
    start: () => void events.push("start"),
    end: () => void events.push("end"),
  });

  const range = new RecordFunction("op");
  await Promise.resolve();
  range.end();
  await drained;
  await removeObserver(first);

  assertEquals(events, ["start", "end", "drained"]);
});

Deno.test("addThreadLocalObserver() leaves nothing where the runtime cannot bind without a callback", () => {
  const { enterWith } = storage;
  const { live } = book;
  const known = book.byHandle.size;
  storage.enterWith = () => {
    throw new TypeError("Cannot bind without a callback");
  };
  try {
    assertThrows(() => addThreadLocalObserver({}), TypeError, "callback");
  } finally {
    storage.enterWith = enterWith;
  }

  assertEquals([book.live, book.byHandle.size], [live, known]);
});

Deno.test("an observer whose scopes are no list is refused", () => {
  const before = book.live;

  scoped(() =>
    assertThrows(
      () => addGlobalObserver({ scopes: "function" as never }),
      TypeError,
      "scopes must be a list",
    )
  );

  assert(book.live === before);
});
