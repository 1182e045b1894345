import { attackWithArrow, seed } from "./support/arrow-attack.ts";
import { fewHostileBodies, mutations } from "./support/arrow-bodies.ts";

// All of them: arrow.long.test.ts.
attackWithArrow(fewHostileBodies(), mutations(40, seed));
