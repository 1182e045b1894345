import { describeStack } from "./suite.ts";

describeStack("aws-prod");
