/** One check of the smoke suite: it failed if it has an error. */
export interface SmokeResult {
  readonly name: string;
  readonly error?: string;
}
