import { html } from "../html.ts";
import { isSame, lowestRecall, ticksOf } from "./axes.ts";
import type { Point } from "./recall.ts";

const size = { width: 640, height: 300, left: 48, right: 16, top: 12, bottom: 40 } as const;

interface ChartProps {
  readonly points: readonly Point[];
  readonly target: number;
  readonly chosen: Point | undefined;
}

/** Recall against time: a line for each refine factor. The table beside it has the same numbers. */
export const RecallChart = ({ points, target, chosen }: ChartProps) => {
  const ticks = ticksOf(Math.max(...points.map(({ ms }) => ms)));
  const low = lowestRecall(points);
  const maxMs = ticks.at(-1) ?? 1;
  const x = (ms: number): number => size.left + (ms / maxMs) * (size.width - size.left - size.right);
  const y = (recall: number): number =>
    size.height - size.bottom - ((recall - low) / (1 - low)) * (size.height - size.top - size.bottom);
  const series = [...Map.groupBy(points, ({ refineFactor }) => refineFactor)].sort(([left], [right]) => left - right);
  const step = low >= 0.5 ? 0.05 : 0.1;
  const recallTicks = Array.from({ length: Math.round((1 - low) / step) + 1 }, (_, index) => low + step * index);
  return html`<svg class="chart" viewBox=${`0 0 ${size.width} ${size.height}`} role="img" aria-label="Recall against time; the table has the numbers">
    ${recallTicks.map(
      (tick) => html`<g key=${tick}>
        <line class="rule" x1=${size.left} x2=${size.width - size.right} y1=${y(tick)} y2=${y(tick)} />
        <text x=${size.left - 6} y=${y(tick) + 4} text-anchor="end">${tick.toFixed(2)}</text>
      </g>`,
    )}
    ${ticks.map(
      (tick) =>
        html`<text key=${tick} x=${x(tick)} y=${size.height - size.bottom + 18} text-anchor="middle">${tick}</text>`,
    )}
    <text x=${(size.left + size.width) / 2} y=${size.height - 4} text-anchor="middle">ms, with the network</text>
    ${target >= low && html`<line class="target" x1=${size.left} x2=${size.width - size.right} y1=${y(target)} y2=${y(target)} />`}
    ${series.map(
      ([refine, of], index) => html`<g key=${refine} class=${`series series-${index % 6}`}>
        <path d=${of
          .toSorted((left, right) => left.nprobes - right.nprobes)
          .map(({ ms, recall }, at) => `${at === 0 ? "M" : "L"}${x(ms)} ${y(recall)}`)
          .join("")} />
        ${of.map(
          (point) =>
            html`<circle key=${point.nprobes} class=${isSame(point, chosen) ? "chosen" : ""} cx=${x(point.ms)} cy=${y(point.recall)} r=${isSame(point, chosen) ? 6 : 3.5}>
              <title>nprobes ${point.nprobes}, refine ${point.refineFactor || "none"}: ${point.recall.toFixed(3)} in ${point.ms.toFixed(1)} ms</title>
            </circle>`,
        )}
      </g>`,
    )}
  </svg>
  <p class="legend">
    ${series.map(([refine], index) => html`<span key=${refine} class=${`series-${index % 6}`}>refine ${refine === 0 ? "none" : refine}</span>`)}
    <span class="target">target</span>
  </p>`;
};
