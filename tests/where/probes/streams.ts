import { finished, Readable, Writable } from "node:stream";
import { boundCallback, boundEmitter } from "../help.ts";
import { dispatching, opening, type Probe, registering, turn } from "../probe.ts";

/** What streams call. Each has come to rest before the dispatcher begins. */
export const streams: readonly Probe[] = [
  {
    name: "`ReadableStream`: `pull()`",
    help: boundCallback,
    async run(look, help) {
      const stream = registering(() => {
        const pull = help((controller: ReadableStreamDefaultController<string>): void => {
          look();
          controller.enqueue("chunk");
        });
        return new ReadableStream({ pull }, { highWaterMark: 0 });
      });
      await turn();
      await dispatching(() => stream.getReader().read());
    },
  },
  {
    name: "`TransformStream`: `transform()`",
    help: boundCallback,
    async run(look, help) {
      const stream = registering(() =>
        new TransformStream({ transform: help(look) }, undefined, { highWaterMark: 1 })
      );
      await turn();
      await dispatching(() => stream.writable.getWriter().write("chunk"));
    },
  },
  {
    name: "`WritableStream`: `write()`",
    help: boundCallback,
    async run(look, help) {
      const stream = registering(() => new WritableStream({ write: help(look) }));
      await turn();
      await dispatching(() => stream.getWriter().write("chunk"));
    },
  },
  {
    name: '`node:stream`: `on("data")`',
    help: boundEmitter,
    async run(look, help) {
      const stream = opening(() => help(new Readable({ read() {} })));
      registering(() => stream.on("data", look));
      await turn();
      dispatching(() => stream.push("chunk"));
    },
  },
  {
    name: "`node:stream`: `write()`",
    help: boundCallback,
    run(look, help) {
      const stream = registering(() => {
        const write = help((_chunk: unknown, _encoding: string, done: () => void): void => {
          look();
          done();
        });
        return new Writable({ write });
      });
      dispatching(() => stream.write("chunk"));
    },
  },
  {
    name: "`node:stream`: `finished()`",
    help: boundCallback,
    run(look, help) {
      const stream = opening(() => new Writable({ write: (_chunk, _encoding, done) => done() }));
      registering(() => finished(stream, help(look)));
      dispatching(() => stream.end("chunk"));
    },
  },
];
