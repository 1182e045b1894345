import { describeStack } from "./suite.ts";

describeStack("local");
