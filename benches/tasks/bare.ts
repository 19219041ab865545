// A worker without a pool.
import { compute } from "./compute.ts";

const port = self as unknown as Worker;
port.onmessage = ({ data }) => port.postMessage(compute(data));
