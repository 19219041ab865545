import { user } from "./_user.ts";

/** What the tasks of one kind have read. */
export class Tally {
  /** Tasks that are done. */
  tasks = 0;
  reads = 0;
  /** Reads of another's value. */
  wrong = 0;
}

/** Checks what one task reads. */
export class Check {
  constructor(private readonly tally: Tally, private readonly expected: string) {}

  /** Reads the user, here and now. */
  read(): void {
    this.compare(user.get());
  }

  /** Compares what was read elsewhere. */
  compare(read: string): void {
    this.tally.reads++;
    if (read !== this.expected) this.tally.wrong++;
  }
}
