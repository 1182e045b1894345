/**
 * Runs in a thread of the program's process, and kills the process when its parent has ended. A thread, because a program in
 * an endless loop handles no events.
 */

import { Socket } from "node:net";

// The parent holds the other end of descriptor 3 and writes nothing to it: the end of the stream is the end of the parent.
new Socket({ fd: 3 }).on("close", () => process.kill(process.pid, "SIGKILL")).resume();
