/** Kubernetes memory quantities: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */

export const quantityPattern = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)?$/;

/** The factor of each suffix. */
export const factors: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

export const MiB = 2 ** 20;
export const GiB = 2 ** 30;

/**
 * Bytes of a quantity.
 * @throws RangeError for any other text
 */
export function parseMemory(text: string): number {
  const match = quantityPattern.exec(text);
  const factor = factors[match?.[2] ?? ""];
  if (match === null || factor === undefined) throw new RangeError(`"${text}" is not a memory quantity such as 8Gi`);
  return Math.round(Number(match[1]) * factor);
}

/** The shortest exact quantity for a number of bytes. */
export function formatMemory(bytes: number): string {
  for (const unit of ["Ti", "Gi", "Mi", "Ki"]) {
    const factor = factors[unit] ?? 1;
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor}${unit}`;
  }
  return String(bytes);
}

/** Bytes as text, rounded to a tenth of a GiB. */
export function describeMemory(bytes: number): string {
  return `${Math.round((bytes / GiB) * 10) / 10}Gi`;
}

/** CPUs as text, rounded to a hundredth. */
export function describeCpus(cpus: number): string {
  return String(Math.round(cpus * 100) / 100);
}
