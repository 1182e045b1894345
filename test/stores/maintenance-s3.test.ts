import { maintenanceSuites, onCloud } from "./cloud.ts";
import { startMoto } from "./moto.ts";

await onCloud("s3", startMoto, maintenanceSuites);
