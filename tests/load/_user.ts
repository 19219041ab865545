// The slot that the load and its workers declare.
import { ThreadLocal } from "@thread-local/core";

export const user = new ThreadLocal("load_test.user", { initial: "nobody", wire: true });
