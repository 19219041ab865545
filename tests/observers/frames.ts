import { copy, currentFrame, type Frame, OWNER, THREAD } from "../../registry/frame.ts";
import { runIn } from "../../registry/guard.ts";
import { Thread } from "../../registry/thread.ts";

/** A frame on a thread of its own, or whose work is for another thread as in backward. */
export class ThreadFrame {
  constructor(private readonly frame: Frame) {}

  get thread(): Thread {
    return this.frame[THREAD] as Thread;
  }

  withThread(name: string): ThreadFrame {
    const thread = new Thread(name, this.thread);
    const draft = copy(this.frame, this.frame.length);
    draft[THREAD] = draft[OWNER] = thread;
    return new ThreadFrame(draft);
  }

  withOwner(owner: Thread): ThreadFrame {
    const draft = copy(this.frame, this.frame.length);
    draft[OWNER] = owner;
    return new ThreadFrame(draft);
  }

  run<R>(fn: () => R): R {
    return runIn(this.frame, fn, []);
  }
}

export function currentThreadFrame(): ThreadFrame {
  return new ThreadFrame(currentFrame());
}
