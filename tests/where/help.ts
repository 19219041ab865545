import { bindEmitter, bindIterator, bindThreadLocalState, detached } from "@thread-local/core";
import { bindPort } from "@thread-local/core/workers";

/** One way in which the library takes a state where it would not go by itself, or keeps it back. */
export interface Help {
  /** The function of the library. */
  readonly name: string;
  /** `value`, helped: to be called where the help is to take the state from. */
  readonly give: <T extends object>(value: T) => T;
}

type Give = Help["give"];

/** A callback is called in the state of where it was bound. */
export const boundCallback: Help = {
  name: "bindThreadLocalState",
  give: bindThreadLocalState as Give,
};

/** The body of an iterator runs in the state of where it was bound. */
export const boundIterator: Help = { name: "bindIterator", give: bindIterator as Give };

/** Listeners are called in the state of where they were added. */
export const boundEmitter: Help = {
  name: "bindEmitter",
  give(emitter) {
    bindEmitter(emitter as EventTarget);
    return emitter;
  },
};

/** Listeners are called in the state of the sender. */
export const boundPort: Help = { name: "bindPort", give: bindPort as Give };

/** A function is called with no slot bound. */
export const detachedCall: Help = {
  name: "detached",
  give: ((fn: () => unknown) => () => detached(fn)) as Give,
};
