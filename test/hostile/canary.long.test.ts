import { searchCanaries } from "./support/canary-search.ts";

searchCanaries(1, 5);
