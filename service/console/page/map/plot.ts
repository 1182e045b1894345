import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { maxGroups } from "./groups.ts";
import type { Point } from "./pca.ts";

export interface Plot {
  readonly points: readonly Point[];
  /** The colour of each point, from 0; undefined: all of the first one. */
  readonly groups: readonly number[] | undefined;
  readonly query: Point | undefined;
  readonly hits: readonly Point[];
}

const padding = 16;

/** From a point to its place in a box of a size; both axes have the same scale. */
export const placing = (points: readonly Point[], width: number, height: number) => {
  const range = (axis: 0 | 1): readonly [number, number] => [
    points.reduce((least, point) => Math.min(least, point[axis]), Number.POSITIVE_INFINITY),
    points.reduce((most, point) => Math.max(most, point[axis]), Number.NEGATIVE_INFINITY),
  ];
  const [left, right] = range(0);
  const [low, high] = range(1);
  const scale = Math.min((width - 2 * padding) / (right - left || 1), (height - 2 * padding) / (high - low || 1));
  return ([x, y]: Point): Point => [
    width / 2 + (x - (left + right) / 2) * scale,
    height / 2 - (y - (low + high) / 2) * scale,
  ];
};

const colorOf = (canvas: HTMLCanvasElement, value: string): string => {
  canvas.style.color = value;
  return getComputedStyle(canvas).color;
};

const draw = (canvas: HTMLCanvasElement, { points, groups, query, hits }: Plot): void => {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext("2d");
  if (context === null || width === 0 || points.length === 0) return;
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  context.scale(devicePixelRatio, devicePixelRatio);
  // A canvas takes no variables of the style sheet.
  const colors = Array.from({ length: maxGroups }, (_, group) => colorOf(canvas, `var(--group-${group})`));
  const place = placing([...points, ...hits, ...(query === undefined ? [] : [query])], width, height);
  const dot = (point: Point, radius: number): void => {
    const [x, y] = place(point);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
  };
  context.globalAlpha = 0.7;
  for (const [at, point] of points.entries()) {
    context.fillStyle = colors[groups?.[at] ?? 0] ?? "gray";
    dot(point, 2.5);
    context.fill();
  }
  context.globalAlpha = 1;
  context.strokeStyle = colorOf(canvas, "var(--text)");
  context.lineWidth = 1.5;
  for (const point of hits) {
    dot(point, 5);
    context.stroke();
  }
  if (query === undefined) return;
  const [x, y] = place(query);
  context.lineWidth = 2;
  context.beginPath();
  for (const [dx, dy] of [
    [9, 0],
    [0, 9],
  ] as const) {
    context.moveTo(x - dx, y - dy);
    context.lineTo(x + dx, y + dy);
  }
  context.stroke();
  dot(query, 9);
  context.stroke();
};

/** Draws when the plot, the size of the canvas or the colours of the page change. */
export const usePlot = (canvas: RefObject<HTMLCanvasElement | null>, plot: Plot): void => {
  useEffect(() => {
    const { current } = canvas;
    if (current === null) return;
    const update = (): void => draw(current, plot);
    const size = new ResizeObserver(update);
    size.observe(current);
    const theme = new MutationObserver(update);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", update);
    return () => {
      size.disconnect();
      theme.disconnect();
      system.removeEventListener("change", update);
    };
  }, [plot]);
};

/** The point nearest to a place of the canvas, at most some pixels away. */
export const pointAt = (
  canvas: HTMLCanvasElement,
  { points, query, hits }: Plot,
  x: number,
  y: number,
): number | undefined => {
  const place = placing(
    [...points, ...hits, ...(query === undefined ? [] : [query])],
    canvas.clientWidth,
    canvas.clientHeight,
  );
  const distances = points.map((point) => {
    const [left, top] = place(point);
    return Math.hypot(left - x, top - y);
  });
  const nearest = distances.reduce(
    (best, distance, at) => (distance < (distances[best] ?? Number.POSITIVE_INFINITY) ? at : best),
    0,
  );
  return (distances[nearest] ?? Number.POSITIVE_INFINITY) <= 12 ? nearest : undefined;
};
