import { writeFile } from "node:fs/promises";

/**
 * When a container runs out of memory, the kernel should kill a worker rather than the service: a kubelet gives a pod's
 * processes up to 999, which they may raise and not lower.
 */
export const raiseOomScore = (): Promise<void> => writeFile("/proc/self/oom_score_adj", "1000").catch(() => undefined);
