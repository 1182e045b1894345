export const shapes = ["scan", "search", "prefiltered search"] as const;

/** A request to plan. */
export interface PlanTask {
  /** Whether the columns have scalar indexes. */
  readonly indexed: boolean;
  readonly shape: (typeof shapes)[number];
  readonly filter?: string;
  readonly aliases: readonly string[];
}

export interface PlanCost {
  /** Milliseconds of CPU time of the whole process, the smaller of two runs. */
  readonly cpuMs: number;
  /** Whether the plan was made, or an error. */
  readonly planned: boolean;
}
