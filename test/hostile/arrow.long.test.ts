import { attackWithArrow, seed } from "./support/arrow-attack.ts";
import { hostileBodies, mutations } from "./support/arrow-bodies.ts";

attackWithArrow(hostileBodies(), mutations(400, seed));
