import { Hono } from "hono";
import { paths } from "../contract.ts";
import { ServiceError } from "../errors.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { errorBody } from "./request.ts";

/** The state that `/readyz` reports. All of it is local: no probe calls the store or the issuer. */
export interface Readiness {
  readonly draining: boolean;
  /** Whether the store has answered at least once. */
  readonly databaseConnected: boolean;
  /**
   * Whether the store answers now. Reported only: all replicas share the store, so removing all of them would replace
   * responses that need no store, and a 503 with `Retry-After`, by the load balancer's error.
   */
  readonly databaseAvailable: boolean;
  readonly keysLoaded: boolean;
  /** Whether worker processes can take calls; true without isolation. */
  readonly workersAvailable: boolean;
}

export const isReady = ({ draining, databaseConnected, keysLoaded, workersAvailable }: Readiness): boolean =>
  !draining && databaseConnected && keysLoaded && workersAvailable;

/** Probes and metrics. Liveness: the process answers. Readiness: it should receive requests. */
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
      message: `not found; this port serves ${paths.live}, ${paths.ready} and ${paths.metrics}`,
    });
    return context.json(errorBody(failure, "health"), failure.status);
  });
  return app;
};
