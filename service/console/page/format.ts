/** How numbers appear in the console. All functions return an en dash for a number that is not known. */

const unknown = "–";

const whole = new Intl.NumberFormat("en");

export const formatCount = (value: number | null | undefined): string =>
  value === null || value === undefined ? unknown : whole.format(value);

/** Three significant digits, without zeros at the end of a fraction. */
const significant = (value: number): string => {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 1))));
  return whole.format(Number(value.toFixed(digits)));
};

const scaled = (value: number, base: number, units: readonly string[]): string => {
  const step = units.findLastIndex((_, index) => value >= base ** index);
  const at = Math.max(0, step);
  return `${significant(value / base ** at)} ${units[at]}`;
};

/** @param nanoseconds for instance 7693076, which is `7.69 ms`. */
export const formatDuration = (nanoseconds: number | null | undefined): string => {
  if (nanoseconds === null || nanoseconds === undefined) return unknown;
  if (nanoseconds >= 60e9) return `${significant(nanoseconds / 60e9)} min`;
  return scaled(nanoseconds, 1000, ["ns", "µs", "ms", "s"]);
};

export const formatBytes = (bytes: number | null | undefined): string =>
  bytes === null || bytes === undefined ? unknown : scaled(bytes, 1000, ["B", "kB", "MB", "GB", "TB"]);

/** @param share 0 to 1. */
export const formatShare = (share: number | null | undefined): string => {
  if (share === null || share === undefined) return unknown;
  const percent = share * 100;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
};

/** Local date and time to the second. */
export const formatTime = (milliseconds: number): string => {
  const date = new Date(milliseconds);
  const two = (value: number): string => String(value).padStart(2, "0");
  return [
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`,
  ].join(" ");
};
