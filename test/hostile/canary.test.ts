import { searchCanaries } from "./support/canary-search.ts";

// Every request: canary.long.test.ts.
searchCanaries(7, 37);
