/**
 * Process groups by name, as PyTorch's GroupRegistry keeps them: each rank's own while thread
 * isolation is on (ranks are threads), the process's while it is off (ranks are processes).
 */
import { RankLocal } from "@thread-local/core/rank-local";

/** The ranks that compute together. */
export interface ProcessGroup {
  readonly rank: number;
  readonly size: number;
  /** The sum of what all ranks give under this name; calls of one name are matched by their order. */
  allReduce(name: string, data: Float64Array): Promise<Float64Array>;
  readonly isDestroyed: boolean;
}

/** A name was registered twice by one rank. */
export class DuplicateGroupError extends Error {
  override readonly name = "DuplicateGroupError";
}

/** No group of that name was registered by the rank that the current work runs for. */
export class UnknownGroupError extends Error {
  override readonly name = "UnknownGroupError";
}

/** The group was registered, and is destroyed or collected since. */
export class DestroyedGroupError extends Error {
  override readonly name = "DestroyedGroupError";
}

// Weak: a registry does not keep a group alive that its rank has let go.
type Groups = Map<string, WeakRef<ProcessGroup>>;

const processWide: Groups = new Map();
const perRank = new RankLocal<Groups>("autograd.groups", () => new Map());

let isolation = false;

/** Turned on when ranks are threads of one process. */
export function setThreadIsolation(on: boolean): void {
  isolation = on;
}

function groups(): Groups {
  return isolation ? perRank.get() : processWide;
}

export function registerGroup(name: string, group: ProcessGroup): void {
  if (groups().has(name)) {
    throw new DuplicateGroupError(
      `Cannot register group "${name}": this rank has one of that name`,
    );
  }
  groups().set(name, new WeakRef(group));
}

/** In a backward node, on whatever thread it runs: the group of the node's forward rank. */
export function resolveGroup(name: string): ProcessGroup {
  const ref = groups().get(name);
  if (ref === undefined) {
    throw new UnknownGroupError(`Cannot resolve group "${name}": this rank registered none`);
  }
  const group = ref.deref();
  if (group === undefined || group.isDestroyed) {
    throw new DestroyedGroupError(`Cannot resolve group "${name}": it is destroyed`);
  }
  return group;
}

export function unregisterGroup(name: string): void {
  groups().delete(name);
}
