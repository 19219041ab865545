// What the browser runs: it sends the results to the server that the page is from.
import { smoke } from "./smoke.mjs";

await fetch("/results", { method: "POST", body: JSON.stringify(await smoke("synchronous")) });
