// What Node and Bun run: it prints the results as the last line of its output.
import { smoke } from "./smoke.mjs";

console.log(JSON.stringify(await smoke("AsyncLocalStorage")));
