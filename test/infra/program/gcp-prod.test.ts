import { describeStack } from "./suite.ts";

describeStack("gcp-prod");
