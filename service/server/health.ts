import { Hono } from "hono";
import { paths } from "../contract.ts";
import { ServiceError } from "../errors.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { errorBody } from "./request.ts";

/** What readiness depends on, and one thing that it only tells. Each answer is local and cheap: no probe asks the store or the issuer. */
export interface Readiness {
  readonly draining: boolean;
  /** Whether the store has answered once. */
  readonly databaseConnected: boolean;
  /**
   * Whether the store answers at the moment. It is told and changes nothing: all replicas share the store, so taking
   * them all away would put the load balancer's error in the place of answers that need no store and of a 503 that says
   * when to retry.
   */
  readonly databaseAnswers: boolean;
  readonly keysLoaded: boolean;
  /** Whether isolated calls find worker processes; true where nothing is isolated. */
  readonly workersAvailable: boolean;
}

export const isReady = ({ draining, databaseConnected, keysLoaded, workersAvailable }: Readiness): boolean =>
  !draining && databaseConnected && keysLoaded && workersAvailable;

/** The operations port: liveness asks only whether the process answers, readiness whether it should be sent requests. */
export const createHealthApp = (metrics: Metrics, readiness: () => Readiness): Hono => {
  const app = new Hono();
  app.get(paths.live, (context) => context.json({ status: "live" }));
  app.get(paths.ready, (context) => {
    const state = readiness();
    const ready = isReady(state);
    return context.json({ status: ready ? "ready" : "not ready", ...state }, ready ? 200 : 503);
  });
  app.get(paths.metrics, async (context) => {
    const { contentType, text } = await metrics.render();
    return context.body(text, 200, { "content-type": contentType });
  });
  app.notFound((context) => {
    const failure = new ServiceError(0, {
      transport: "noSuchRoute",
      message: `there is nothing here; this port has ${Object.values(paths).slice(0, 3).join(", ")}`,
    });
    return context.json(errorBody(failure, "operations"), failure.status);
  });
  return app;
};
