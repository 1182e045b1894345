import { setTimeout as sleep } from "node:timers/promises";

export interface RetryOptions {
  readonly attempts: number;
  /** Errors after which the action is repeated. Any other is thrown at once. */
  readonly pattern: RegExp;
  /** Milliseconds before the second attempt, doubled each time. Default: no pause. */
  readonly firstPauseMs?: number;
}

/** Repeats an action that has changed nothing when it fails. */
export const retry = async <T>(
  { attempts, pattern, firstPauseMs }: RetryOptions,
  action: () => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await action();
    } catch (error) {
      if (attempt === attempts || !pattern.test(String(error))) throw error;
      if (firstPauseMs !== undefined) await sleep(firstPauseMs * 2 ** (attempt - 1));
    }
};
