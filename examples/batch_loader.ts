/**
 * My batch loader mixes two requests' rows: what do I do?
 *
 * A batch is loaded in the state of whoever asked first, for everyone in it. Keep one batch for
 * each user, and load it in a state that binds the user and nothing else: what is not part of the
 * key must not reach the load.
 */
import { saveThreadLocalState, ThreadLocal } from "@thread-local/core";
import DataLoader from "dataloader";

const user = new ThreadLocal("batch_loader.user", { initial: "nobody" });
const requestId = new ThreadLocal("batch_loader.requestId", { initial: "none" });

interface Row {
  readonly id: number;
  readonly owner: string;
  readonly request: string;
}

let selects = 0;

/** The database shows each user their own rows. It reads who asks, it is not told. */
async function select(ids: readonly number[]): Promise<Row[]> {
  selects++;
  await new Promise((resolve) => setTimeout(resolve));
  return ids.map((id) => ({ id, owner: user.get(), request: requestId.get() }));
}

const batches = new Map<string, DataLoader<number, Row>>();

/** Loads a row together with what else this user asks for in the same turn. */
function load(id: number): Promise<Row> {
  const batch = batches.getOrInsertComputed(user.get(), (key) => {
    const state = saveThreadLocalState().pick(user);
    return new DataLoader((ids) => {
      batches.delete(key);
      return state.run(select, ids);
    }, { cache: false });
  });
  return batch.load(id);
}

const oneForAll = new DataLoader(select, { cache: false });

/** A request: three rows, in two turns. */
async function handle(load: (id: number) => Promise<Row>): Promise<Row[]> {
  const first = await load(1);
  return [first, ...await Promise.all([load(2), load(3)])];
}

/** 200 requests at once, from 20 users. */
const requests = Array.from({ length: 200 }, (_, index) => ({
  from: `user-${index % 20}`,
  id: `request-${index}`,
}));

interface Outcome {
  readonly rows: number;
  /** Rows of another user, or loaded under the request id of one of the batch. */
  readonly wrong: number;
  readonly selects: number;
}

async function perform(load: (id: number) => Promise<Row>): Promise<Outcome> {
  selects = 0;
  const answers = await Promise.all(
    requests.map(({ from, id }) => user.run(from, () => requestId.run(id, handle, load))),
  );
  const wrong = answers.flatMap((rows, index) =>
    rows.filter(({ owner, request }) => owner !== requests[index].from || request !== "none")
  );
  return { rows: answers.flat().length, wrong: wrong.length, selects };
}

const keyed = await perform(load);
const mixed = await perform((id) => oneForAll.load(id));

console.log(
  `batch_loader: ${keyed.wrong} of ${keyed.rows} rows are another user's, in ${keyed.selects} selects`,
);
console.log(`  (${mixed.wrong} in ${mixed.selects} with one loader for all)`);
Deno.exitCode = keyed.wrong === 0 && keyed.selects < keyed.rows && mixed.wrong > 0 ? 0 : 1;
