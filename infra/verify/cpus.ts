/** CPUs of a Kubernetes quantity, such as `7910m` or `8`. Any other text is 0. */
export function cpuQuantity(text: string): number {
  const match = /^(?<number>\d+(?:\.\d+)?)(?<milli>m?)$/.exec(text)?.groups;
  return match === undefined ? 0 : Number(match.number) / (match.milli === "m" ? 1000 : 1);
}
