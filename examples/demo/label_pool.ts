import { threadLocalPool } from "@thread-local/core/workers";
import { FixedThreadPool } from "poolifier-web-worker";
import { off } from "./slots.ts";

const pool = new FixedThreadPool<number, string>(
  2,
  new URL("./label_worker.ts", import.meta.url),
);

/** Draws the labels. A task gets a copy of the slots of its caller that are declared with `wire`. */
export const labels: typeof pool = off ? pool : threadLocalPool(pool);
