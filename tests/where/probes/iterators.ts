import { boundIterator } from "../help.ts";
import { dispatching, type Probe, registering } from "../probe.ts";

/** What the steps of an iteration call. */
export const iterators: readonly Probe[] = [
  {
    name: "generator's body",
    help: boundIterator,
    run(look, help) {
      const steps = registering(() =>
        help((function* () {
          look();
          yield;
        })())
      );
      dispatching(() => steps.next());
    },
  },
  {
    name: "async generator's body",
    help: boundIterator,
    async run(look, help) {
      const steps = registering(() =>
        help((async function* () {
          look();
          yield;
        })())
      );
      await dispatching(() => steps.next());
    },
  },
  {
    name: "async generator's body, after an `await`",
    help: boundIterator,
    async run(look, help) {
      const steps = registering(() =>
        help((async function* () {
          await null;
          look();
          yield;
        })())
      );
      await dispatching(() => steps.next());
    },
  },
  {
    name: "body of a `for await` loop",
    async run(look) {
      await registering(async () => {
        for await (const _ of [1]) look();
      });
    },
  },
];
