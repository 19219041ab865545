import { assertEquals } from "@std/assert";
import { captureSite, frames, position } from "../../registry/site.ts";

for (
  const [engine, stack, expected] of [
    [
      "V8, in a function",
      "Error\n    at f (file:///a/b.ts:3:5)\n    at file:///c.ts:1:1",
      "file:///a/b.ts:3:5",
    ],
    ["V8, at top level", "Error\n    at file:///a/b.ts:3:5", "file:///a/b.ts:3:5"],
    ["V8, async", "Error\n    at async file:///a/b.ts:3:5", "file:///a/b.ts:3:5"],
    ["V8, async in a function", "Error\n    at async f (file:///a/b.ts:3:5)", "file:///a/b.ts:3:5"],
    ["V8, in a constructor", "Error\n    at new F (file:///a/b.ts:3:5)", "file:///a/b.ts:3:5"],
    [
      "V8, in a package of JSR",
      "Error\n    at https://jsr.io/@app/web/1.0.0/mod.ts:3:5",
      "https://jsr.io/@app/web/1.0.0/mod.ts:3:5",
    ],
    [
      "V8, in a function of a package of npm",
      "Error\n    at f (file:///n/@app+web@1.0.0/mod.js:3:5)",
      "file:///n/@app+web@1.0.0/mod.js:3:5",
    ],
    [
      "V8, in a folder with parentheses",
      "Error\n    at f (file:///app/(group)/page.ts:3:5)",
      "file:///app/(group)/page.ts:3:5",
    ],
    ["V8, on Windows", "Error\n    at f (C:\\a b\\c.js:3:5)", "C:\\a b\\c.js:3:5"],
    [
      "SpiderMonkey",
      "f@https://a.org/b.js:3:5\n@https://a.org/c.js:1:1\n",
      "https://a.org/b.js:3:5",
    ],
    [
      "JavaScriptCore",
      "f@https://a.org/@b/c.js:3:5\nglobal code@https://a.org/c.js:1:1",
      "https://a.org/@b/c.js:3:5",
    ],
  ]
) {
  Deno.test(`position() is the innermost file:line:column, as ${engine} writes it`, () => {
    assertEquals(position({ stack }), expected);
  });
}

for (
  const [name, site] of [
    ["no site", undefined],
    ["a site without a stack", {}],
    ["a stack without positions", { stack: "Error\n    at <anonymous>" }],
  ] as const
) {
  Deno.test(`position() of ${name} says so`, () => {
    assertEquals(position(site), "unknown place");
  });
}

Deno.test("frames() leaves the heading line out", () => {
  assertEquals(frames({ stack: "Error\n    at f (a.ts:1:1)" }), "    at f (a.ts:1:1)");
  assertEquals(frames({ stack: "f@a.js:1:1\n@b.js:2:2" }), "f@a.js:1:1\n@b.js:2:2");
});

Deno.test("captureSite() begins at the caller of the function that it is given", () => {
  function above() {
    return captureSite(above);
  }

  const site = above();

  assertEquals(position(site).replace(/:\d+:\d+$/, ""), import.meta.url);
  assertEquals(frames(site)?.includes("above"), false);
});

for (
  const [name, format] of [
    ["throws", () => {
      throw new Error("broken formatter");
    }],
    ["returns no string", (_: Error, sites: unknown) => sites],
  ] as const
) {
  Deno.test(`position() and frames() do without a stack where the user's Error.prepareStackTrace ${name}`, () => {
    const holder = Error as { prepareStackTrace?: unknown };
    const before = holder.prepareStackTrace;
    holder.prepareStackTrace = format;
    try {
      const site = captureSite(undefined);

      assertEquals(position(site), "unknown place");
      assertEquals(frames(site), undefined);
    } finally {
      holder.prepareStackTrace = before;
    }
  });
}
