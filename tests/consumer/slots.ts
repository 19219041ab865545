import { ThreadLocal } from "@thread-local/core";

declare module "@thread-local/core" {
  interface ThreadLocalSlots {
    "consumer.user": string;
    "consumer.attempt": number;
  }
}

export const user = new ThreadLocal<string>("consumer.user", { initial: "nobody", wire: true });
export const attempt = new ThreadLocal<number>("consumer.attempt", { init: () => 1 });
