import { contextStorage } from "@thread-local/core";
import { asyncChecks } from "./async_checks.mjs";
import { checks } from "./checks.mjs";
import { equal } from "./expect.mjs";
import { guardChecks } from "./guard_checks.mjs";
import { layerChecks } from "./layer_checks.mjs";
import { synchronousChecks } from "./synchronous_checks.mjs";

/**
 * Runs every check.
 *
 * @param storage What `contextStorage` must say here.
 * @returns The name of each check, with its error if it failed.
 */
export async function smoke(storage) {
  const all = {
    [`contextStorage is "${storage}"`]: () => equal(contextStorage, storage),
    ...checks,
    ...guardChecks,
    ...layerChecks,
    ...(contextStorage === "synchronous" ? synchronousChecks : asyncChecks),
  };
  const results = [];
  for (const [name, check] of Object.entries(all)) {
    try {
      await check();
      results.push({ name });
    } catch (error) {
      results.push({ name, error: `${error}\n${error?.stack}` });
    }
  }
  return results;
}
