import type { AddressInfo, Server } from "node:net";

/** Listens on a free port of loopback, in the current state. */
export function listen<S extends Server>(server: S): Promise<S> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** Host and port of a server that listens. */
export function address(server: Server): string {
  return `127.0.0.1:${portOf(server)}`;
}

/** The port of a server that listens. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Closes a server and waits for the end of its connections. */
export function stop(server: Server): Promise<void> {
  return new Promise((resolve, reject) =>
    server.close((error) => error === undefined ? resolve() : reject(error))
  );
}
