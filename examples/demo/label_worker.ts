/** The file of a worker: an isolate of its own, with its own copy of every module. */
import { threadLocalWorker } from "@thread-local/core/workers/worker";
import { ThreadWorker } from "poolifier-web-worker";
import { log } from "./logger.ts";
import { off } from "./slots.ts";

/** The five bars of each digit in the bar code "2 of 5"; the wide ones are 1. */
const DIGITS = "00110 10001 01001 11000 00101 10100 01100 00011 10010 01010".split(" ");

/** Draws an order's bar code. The user comes with the task, and is no argument of it either. */
function drawLabel(order = 0): string {
  log("on a worker", order);
  const bars = [...String(order)].map((digit) =>
    [...DIGITS[Number(digit)]].map((wide) => wide === "1" ? "█▊" : "▌").join(" ")
  );
  return ["█▊ █▊ ▌", ...bars, "█▊ ▌ █▊"].join(" ");
}

if (off) new ThreadWorker({ drawLabel });
else threadLocalWorker({ drawLabel });
