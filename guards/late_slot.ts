import type { InitialValue, SlotOptions } from "../registry/slot_options.ts";
import { ThreadLocal } from "../registry/thread_local.ts";

/**
 * Declares one of this package's own slots, at the first call of the function that it returns.
 *
 * The slots that are declared first have the cheapest places in a frame: a program that does not
 * use ours keeps those places for its own. `shared`, because two copies of the package may declare.
 */
export function declareLate<T>(
  key: string,
  options: SlotOptions<T> & InitialValue<T>,
): () => ThreadLocal<T> {
  let slot: ThreadLocal<T> | undefined;
  return () => slot ??= new ThreadLocal(`@thread-local/core/${key}`, { ...options, shared: true });
}
