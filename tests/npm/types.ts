// Where JSR is out of reach: the package that @std/testing/types was made from.
export * from "npm:conditional-type-checks@1.0.6";
export { assert as assertType } from "npm:conditional-type-checks@1.0.6";
