/**
 * Path of a vector as a line: `M0 4 L1 2…`, in a box of `width` × `height`. Of more numbers than pixels, each pixel shows
 * the one with the largest distance from the middle.
 */
export const sparklinePath = (values: ArrayLike<number>, width: number, height: number): string => {
  const finite = Array.from(values, (value) => (Number.isFinite(value) ? value : 0));
  if (finite.length === 0) return "";
  // A spread of more numbers than the call stack takes ends the page.
  const min = finite.reduce((least, value) => Math.min(least, value));
  const max = finite.reduce((most, value) => Math.max(most, value));
  const middle = (min + max) / 2;
  const columns = Math.min(finite.length, width);
  const picked = Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * finite.length) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * finite.length) / columns));
    return finite
      .slice(from, to)
      .reduce((far, value) => (Math.abs(value - middle) > Math.abs(far - middle) ? value : far), finite[from] ?? 0);
  });
  const x = (column: number): number => (columns === 1 ? width / 2 : (column * width) / (columns - 1));
  const y = (value: number): number => (max === min ? height / 2 : height - ((value - min) / (max - min)) * height);
  const round = (value: number): number => Math.round(value * 10) / 10;
  return picked.map((value, column) => `${column === 0 ? "M" : "L"}${round(x(column))} ${round(y(value))}`).join(" ");
};
