import type { Statistics } from "../../../query/answers.ts";
import { formatCount, formatShare } from "../format.ts";
import { html } from "../html.ts";
import { lengthBars } from "./lengths.ts";

/** Quantiles of fewer fragments say less than the limits. */
const minForHistogram = 8;

export const Fragments = ({ statistics }: { statistics: Statistics["fragment_stats"] }) => {
  const { num_fragments: count, num_small_fragments: small, lengths } = statistics;
  if (count === 0) return html`<p class="muted">No fragment.</p>`;
  const facts = html`<p>
    ${formatCount(count)} fragments, ${formatCount(small)} of them with fewer than 100,000 rows.
    ${" "}From ${formatCount(lengths.min)} to ${formatCount(lengths.max)} rows, the median ${formatCount(lengths.p50)}.
  </p>`;
  if (count < minForHistogram) return facts;
  const bars = lengthBars(lengths);
  const largest = Math.max(...bars.map(({ share }) => share));
  return html`${facts}
    <table class="bars">
      <caption class="hidden">Fragments by number of rows</caption>
      <thead><tr><th class="number">Rows</th><th>Share of fragments</th><td></td></tr></thead>
      <tbody>
        ${bars.map(
          ({ from, to, share }) => html`<tr key=${`${from}-${to}`}>
            <td class="number">${from === to ? formatCount(from) : `${formatCount(from)} – ${formatCount(to)}`}</td>
            <td class="bar"><div style=${{ width: `${(share / largest) * 100}%` }}></div></td>
            <td class="number">${formatShare(share)}</td>
          </tr>`,
        )}
      </tbody>
    </table>`;
};
