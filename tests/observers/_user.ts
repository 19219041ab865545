import { DebugInfoKind, ThreadLocalDebugInfo } from "@thread-local/core/guards";
import { addGlobalObserver, recordFunction, removeObserver } from "@thread-local/core/observers";

/** The user on whose behalf the work runs. It may go to a worker. */
export const USER: DebugInfoKind<string> = new DebugInfoKind<string>("observers_test.user", {
  wire: true,
});

/** For nesting. */
export const STEP: DebugInfoKind<number> = new DebugInfoKind<number>("observers_test.step", {
  wire: true,
});

/** An operator that nobody tells for whom it works. */
export function operator(name: string): void {
  recordFunction(name, { scope: "kernel-function" }, () => {});
}

/** What an observer has booked, as `operator: user`. */
export class Bookings implements Disposable {
  readonly lines: string[] = [];
  private readonly handle = addGlobalObserver({
    start: ({ name }) => {
      const step = ThreadLocalDebugInfo.get(STEP);
      const user = ThreadLocalDebugInfo.get(USER);
      this.lines.push(`${name}: ${user}${step === null ? "" : ` at ${step}`}`);
    },
  });

  [Symbol.dispose](): void {
    removeObserver(this.handle);
  }
}
