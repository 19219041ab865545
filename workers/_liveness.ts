/**
 * How one isolate learns that another is gone. No event tells of a worker that closes itself or is
 * terminated, but the platform takes back its Web Locks: the worker holds one for as long as it
 * lives, and whoever waits for it learns when it ends.
 */
interface Locks {
  request(name: string, callback: () => unknown): Promise<unknown>;
  request(
    name: string,
    options: { signal: AbortSignal },
    callback: () => unknown,
  ): Promise<unknown>;
}

function locks(): Locks | undefined {
  return (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;
}

/**
 * Holds a lock for the rest of this isolate's life.
 *
 * @returns Its name, or `undefined` where the platform has no Web Locks.
 */
export async function holdLock(): Promise<string | undefined> {
  const name = `@thread-local/core worker ${crypto.randomUUID()}`;
  const available = locks();
  if (available === undefined) return undefined;
  await new Promise<void>((resolve, reject) => {
    available.request(name, () => {
      resolve();
      return new Promise(() => {});
    }).catch(reject);
  });
  return name;
}

/** Calls `ended` when the isolate that holds this lock is gone, unless `signal` is aborted before. */
export function awaitLock(name: string, signal: AbortSignal, ended: () => void): void {
  locks()?.request(name, { signal }, ended).catch(() => {
    // Aborted: nobody waits any more.
  });
}
