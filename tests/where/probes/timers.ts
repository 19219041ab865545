import { setImmediate } from "node:timers";
import { type Probe, registering } from "../probe.ts";

/** What is called later. */
export const timers: readonly Probe[] = [
  {
    name: "`setTimeout`",
    run: (look) => void registering(() => setTimeout(look)),
  },
  {
    name: "`setInterval`",
    async run(look, _help, looked) {
      const timer = registering(() => setInterval(look, 1));
      await looked;
      clearInterval(timer);
    },
  },
  {
    name: "`setImmediate`",
    run: (look) => void registering(() => setImmediate(look)),
  },
];
