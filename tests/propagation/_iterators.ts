import { ThreadLocal } from "@thread-local/core";

export const user = new ThreadLocal("iterator_test.user", { initial: "nobody" });

export function* reads(times: number): Generator<string, string, string | undefined> {
  for (let i = 0; i < times; i++) yield user.get();
  return `returned to ${user.get()}`;
}

export async function* readsAsync(
  times: number,
): AsyncGenerator<string, string, string | undefined> {
  for (let i = 0; i < times; i++) {
    await new Promise((resolve) => setTimeout(resolve));
    yield user.get();
  }
  return `returned to ${user.get()}`;
}

/** An iterator that has the protocol's methods and nothing else. */
export function bare(): Iterator<string> {
  return { next: () => ({ done: false, value: user.get() }) };
}
