import { maintenanceSuites, onCloud } from "./cloud.ts";
import { startFakeGcs } from "./fake-gcs.ts";

await onCloud("gs", startFakeGcs, maintenanceSuites);
