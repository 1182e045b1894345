/** Sends concurrent flat analyses and counts the responses by kind. Arguments: port, token. */
import { type Answered, Caller } from "../caller.ts";
import { serveTasks } from "../task-process.ts";
import { vectorOf } from "../workloads.ts";
import { million } from "./data.ts";

const [port = "", token = ""] = process.argv.slice(2);
const rows = 10;

export interface Flooded {
  /** Responses with a plan whose search returned all rows. */
  readonly plans: number;
  /** Refusals by a limit, with its status and error code. */
  readonly refusals: number;
  /** Everything else: no response, an error, a plan without rows. */
  readonly wrong: readonly string[];
}

const kindOfResponse = ({ status, text }: Answered): "plan" | "refusal" | string => {
  if (status === 200 && text.includes(`output_rows=${rows},`)) return "plan";
  const code = status === 200 ? undefined : (JSON.parse(text) as { readonly code?: number }).code;
  if ((status === 503 && code === 17) || (status === 429 && code === 21)) return "refusal";
  return `${status}: ${text.slice(0, 200)}`;
};

serveTasks(async ({ requests }: { readonly requests: number }): Promise<Flooded> => {
  const outcomes = await Promise.all(
    Array.from({ length: requests }, async (_, seed) => {
      const caller = new Caller(Number(port));
      const query = { k: rows, vector: [...vectorOf(seed, million.dimensions)], bypass_vector_index: true };
      const asked = { path: `/v1/table/${million.name}/analyze_plan`, token, body: JSON.stringify(query) };
      try {
        return kindOfResponse(await caller.ask(asked));
      } catch (error) {
        return String(error);
      } finally {
        caller.close();
      }
    }),
  );
  const of = (wanted: string): number => outcomes.filter((outcome) => outcome === wanted).length;
  return {
    plans: of("plan"),
    refusals: of("refusal"),
    wrong: outcomes.filter((outcome) => outcome !== "plan" && outcome !== "refusal"),
  };
});
