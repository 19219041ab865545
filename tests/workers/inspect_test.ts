import { assertEquals } from "@std/assert";
import { saveThreadLocalState, ThreadLocal } from "@thread-local/core";
import { WireReader } from "../../workers/_envelope.ts";

Deno.test("what a worker remembers of the last wire is not printed with the worker", () => {
  const token = new ThreadLocal("workers/inspect_test.token", { initial: "none", wire: true });
  const reader = new WireReader();

  reader.read(JSON.stringify(token.run("s3cret", saveThreadLocalState).toWire()));

  assertEquals([Deno.inspect(reader), JSON.stringify(reader)], ["WireReader {}", "{}"]);
});
