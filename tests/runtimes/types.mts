// What a project with npm's TypeScript compiles against: the declarations in the packed library.
import { type Guard, registry, ThreadLocal } from "@thread-local/core";
import { ThreadLocalStateGuard } from "@thread-local/core/guards";
import { scoped } from "@thread-local/core/propagation";
import { addGlobalObserver, type ObserverHandle } from "@thread-local/core/observers";
import { Node, RankLocal } from "@thread-local/core/rank-local";
import { saveThreadLocalState, type ThreadLocalState } from "@thread-local/core/registry";

declare module "@thread-local/core" {
  interface ThreadLocalSlots {
    "types.user": string;
  }
}

export const user = new ThreadLocal<string>("types.user", { initial: "nobody" });
export const found: ThreadLocal<string> | undefined = registry.get("types.user");
// @ts-expect-error It is not a slot of numbers.
export const wrong: ThreadLocal<number> | undefined = registry.get("types.user");
// @ts-expect-error A string has to begin as something.
export const uninitialized = new ThreadLocal<string>("types.uninitialized");

export const state: ThreadLocalState = user.run("ann", saveThreadLocalState);
export const name: string = state.run((greeting: string) => greeting + user.get(), "hello ");
export const guard: Promise<Guard> = user.enter("ann");
export const scope: Disposable = new ThreadLocalStateGuard(state);
export const four: number = scoped((two: number) => two * two, 2);
export const mul: Node<[number], number> = new Node("mul", (gradient: number) => 2 * gradient);
export const count: number = new RankLocal("types.local", () => ({ count: 0 })).get().count;
export const handle: ObserverHandle = addGlobalObserver({
  start: () => 1,
  end: (_, started) => started.toFixed(),
});
