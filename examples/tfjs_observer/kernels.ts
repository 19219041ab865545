import { recordFunction } from "@thread-local/core/observers";
import * as tf from "./tf.ts";

/** Everything of a tensor that a kernel gets and gives: the identity of its data. */
export interface TensorInfo {
  readonly dataId: object;
}

/** Puts each kernel of the CPU backend into a range. The kernels and their callers know nothing of it. */
export async function recordKernels(): Promise<void> {
  tf.enableProdMode(); // no advice on the console
  await tf.setBackend("cpu");
  for (const config of tf.getKernelsForBackend("cpu")) {
    const { kernelName, kernelFunc } = config;
    tf.unregisterKernel(kernelName, "cpu");
    tf.registerKernel({
      ...config,
      kernelFunc: (call) =>
        recordFunction(
          kernelName,
          // An optional input may be there as undefined.
          { scope: "kernel-function", inputs: () => Object.values(call.inputs).filter(Boolean) },
          () => kernelFunc(call),
        ),
    });
  }
}
