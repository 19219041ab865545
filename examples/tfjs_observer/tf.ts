// By specifier, not through deno.json: only who runs this example downloads its 270 MB. With types of
// our own: those of the package replace the DOM's for every file of the program.
// @ts-types="./tf.d.ts"
export * from "npm:@tensorflow/tfjs@^4";
