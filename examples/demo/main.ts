/**
 * A server that logs, with the library and without it: `deno task demo`.
 *
 * Two servers get the same 1,000 requests at the same time. Each binds the user and the request id
 * once, and five layers down a logger that takes neither writes them: after an await and a timer,
 * in a queued job, on a pooled connection, in an async generator, on a worker, in a bound callback.
 * One server keeps them in a `ThreadLocal`, the other in a variable of the module (which each worker
 * has for itself, and where nobody sets it). Every line carries the number of the order that it is
 * about, and the client knows who sent that order.
 *
 * Begin to read at `server.ts`.
 */
import { AT_ONCE, REQUESTS, Run, USERS } from "./run.ts";
import { LiveTable } from "./table.ts";

const on = new Run();
const off = new Run();
const runs = { "ThreadLocal": on, "module variable": off };
const table = new LiveTable(runs);

console.log(
  `\n  Two servers, each with ${REQUESTS.toLocaleString("en")} requests, ${AT_ONCE} at a time, ` +
    `from ${USERS} users\n`,
);
const timer = setInterval(() => table.update(), 50);
await Promise.all([on.perform(), off.perform("--off")]);
clearInterval(timer);
table.finish();

const faults = [
  ...Object.entries(runs).filter(([, run]) => !run.complete)
    .map(([name]) => `${name}: answers or log lines are missing`),
  ...(on.wrongUsers + on.wrongRequests > 0
    ? ["ThreadLocal: lines with the wrong user or request"]
    : []),
  ...(off.wrongUsers === 0 ? ["module variable: the check finds no wrong line"] : []),
];
const { line, sender } = off.example ?? {};
console.log(
  faults.length > 0
    ? `\n  ✗ ${faults.join("; ")}\n`
    : `\n  ✓ Every line of ThreadLocal's log names the user whose request it came from.\n` +
      `    With a module variable, ${sender}'s order ${line?.order} was logged as ${line?.user}'s.\n`,
);
Deno.exitCode = faults.length > 0 ? 1 : 0;
