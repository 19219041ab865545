// The slots that both sides of the tests declare.
import { ThreadLocal } from "@thread-local/core";

export const user = new ThreadLocal("workers_test.user", { initial: "nobody", wire: true });
export const visits = new ThreadLocal("workers_test.visits", { initial: 0, wire: true });
export const secret = new ThreadLocal("workers_test.secret", { initial: "none" });

/** Its value can be changed without being bound anew. */
export const tags = new ThreadLocal<string[]>("workers_test.tags", { initial: [], wire: true });
