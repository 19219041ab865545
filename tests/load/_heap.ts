declare const gc: (() => void) | undefined;

/** Bytes of this isolate's heap that are in use after a collection. */
export async function heapInUse(): Promise<number> {
  if (typeof gc !== "function") {
    throw new Error("Cannot measure the heap: nothing collects it. Use deno task load");
  }
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve));
    gc();
  }
  return Deno.memoryUsage().heapUsed;
}
