// The part of TensorFlow.js that the example uses.
export interface Tensor {
  readonly dataId: object;
  data(): Promise<Float32Array>;
  dispose(): void;
}

export interface Layer {
  apply(input: Tensor): Tensor;
}

export interface Sequential {
  readonly layers: readonly Layer[];
}

export interface LayerOptions {
  readonly units: number;
  readonly activation: "relu" | "softmax";
  readonly kernelInitializer: object;
  readonly inputShape?: readonly number[];
}

/** What a kernel is called with. */
export interface KernelCall {
  readonly inputs: Readonly<Record<string, Tensor | undefined>>;
}

export interface KernelConfig {
  readonly kernelName: string;
  readonly backendName: string;
  readonly kernelFunc: (call: KernelCall) => unknown;
}

export declare const layers: { dense(options: LayerOptions): Layer };
export declare const initializers: { glorotUniform(options: { seed: number }): object };
export declare function sequential(options: { layers: readonly Layer[] }): Sequential;
export declare function tensor2d(values: readonly (readonly number[])[]): Tensor;
export declare function nextFrame(): Promise<void>;
export declare function enableProdMode(): void;
export declare function setBackend(name: string): Promise<boolean>;
export declare function getKernelsForBackend(name: string): KernelConfig[];
export declare function registerKernel(config: KernelConfig): void;
export declare function unregisterKernel(name: string, backend: string): void;
