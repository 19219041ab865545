// The worker of the benches' pools as they are.
import { ThreadWorker } from "poolifier-web-worker";

new ThreadWorker({ echo: (chunk: unknown) => chunk });
