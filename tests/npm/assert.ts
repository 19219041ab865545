// Where JSR is out of reach: @std/assert as npm has it.
// @ts-types="./assert.d.ts"
export * from "npm:deno-std@1.4.0/assert/mod.js";
