import { useCallback, useEffect, useState } from "preact/hooks";

/** A value that is being loaded. While it is loaded again, the last one stays. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  reload(): void;
}

/** Loads a value when `inputs` change, and abandons the load before. */
export const useLoad = <T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> => {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({ value: undefined, error: undefined, loading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState(({ value }) => ({ value, error: undefined, loading: true }));
    load(controller.signal).then(
      (value) => controller.signal.aborted || setState({ value, error: undefined, loading: false }),
      (error: unknown) => controller.signal.aborted || setState(({ value }) => ({ value, error, loading: false })),
    );
    return () => controller.abort();
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((value) => value + 1), []);
  return { ...state, reload };
};

/** One action at a time: its progress and its failure. */
export const useAction = () => {
  const [state, setState] = useState<{ readonly busy: boolean; readonly error: unknown }>({
    busy: false,
    error: undefined,
  });
  const run = useCallback(async (action: () => Promise<void>): Promise<void> => {
    setState({ busy: true, error: undefined });
    try {
      await action();
      setState({ busy: false, error: undefined });
    } catch (error) {
      const aborted = (error as Error).name === "AbortError";
      setState({ busy: false, error: aborted ? undefined : error });
    }
  }, []);
  return { ...state, run };
};
