import { type LogLine, type Place, PLACES } from "./log_line.ts";
import { ServerProcess } from "./server_process.ts";

export const REQUESTS = 1_000;
export const AT_ONCE = 100;
export const USERS = 50;

/** What is sent: the log is checked against this, and against nothing that the server says. */
interface Order {
  readonly order: number;
  readonly user: string;
  readonly request: string;
}

const orders: readonly Order[] = Array.from({ length: REQUESTS }, (_, index) => ({
  order: index + 1,
  user: `user-${index % USERS + 1}`,
  request: crypto.randomUUID(),
}));

/** The lines written in one place, and how many of them name another user. */
interface PlaceCount {
  lines: number;
  wrong: number;
}

/** Every order sent to a server, and what the server's log says of them. */
export class Run {
  /** Requests that were answered. */
  answered = 0;
  readonly places = new Map<Place, PlaceCount>();
  /** Lines that name another request. */
  wrongRequests = 0;
  /** The first line that names another user, and who sent that order. */
  example: { readonly line: LogLine; readonly sender: string } | undefined;
  // In milliseconds.
  private begun = 0;
  private lasted = 0;

  /** Starts a server with these arguments, sends it every order, reads its log to the end. */
  async perform(...args: string[]): Promise<void> {
    const server = await ServerProcess.start(...args);
    const reading = this.read(server.lines);
    const next = orders.values();
    this.begun = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.send(server.url, next)));
    this.lasted = performance.now() - this.begun;
    await server.stop();
    await reading;
  }

  /** Lines written. */
  get lines(): number {
    return this.places.values().reduce((sum, { lines }) => sum + lines, 0);
  }

  /** Lines that name another user than the one who sent the order. */
  get wrongUsers(): number {
    return this.places.values().reduce((sum, { wrong }) => sum + wrong, 0);
  }

  /** Whether every order was answered, and wrote its line in every place. */
  get complete(): boolean {
    return this.answered === REQUESTS &&
      PLACES.every((place) => this.places.get(place)?.lines === REQUESTS);
  }

  get requestsPerSecond(): number {
    const lasted = this.lasted || performance.now() - this.begun;
    return 1_000 * this.answered / lasted;
  }

  /** One of the clients that run at once: sends the next order until there is none. */
  private async send(url: string, next: Iterable<Order>): Promise<void> {
    for (const { order, user, request } of next) {
      const response = await fetch(url, {
        method: "POST",
        headers: { "x-user": user, "x-request-id": request },
        body: JSON.stringify({ order }),
      });
      await response.body?.cancel();
      if (response.ok) this.answered++;
    }
  }

  private async read(lines: AsyncIterable<string>): Promise<void> {
    for await (const line of lines) this.check(JSON.parse(line));
  }

  private check(line: LogLine): void {
    const sent = orders[line.order - 1];
    const count = this.places.getOrInsertComputed(line.place, () => ({ lines: 0, wrong: 0 }));
    count.lines++;
    if (line.request !== sent.request) this.wrongRequests++;
    if (line.user !== sent.user) {
      count.wrong++;
      this.example ??= { line, sender: sent.user };
    }
  }
}
