import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** A part of a scrolled content, in the pixels of the content before it is scaled. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** What is drawn before the box was measured: more than most windows show, so that nothing is drawn twice. */
const first: Area = { left: 0, top: 0, right: 2000, bottom: 1200 };

/** Pixels around the visible part that are drawn as well, and those of them that are left when the next part is drawn. */
const margin = { drawn: 600, left: 200 } as const;

const around = (
  { scrollLeft, scrollTop, clientWidth, clientHeight }: HTMLElement,
  pixels: number,
  scale: number,
): Area => ({
  left: Math.max(0, scrollLeft - pixels) / scale,
  top: Math.max(0, scrollTop - pixels) / scale,
  right: (scrollLeft + clientWidth + pixels) / scale,
  bottom: (scrollTop + clientHeight + pixels) / scale,
});

const covers = (area: Area, { left, top, right, bottom }: Area): boolean =>
  area.left <= left && area.top <= top && area.right >= right && area.bottom >= bottom;

/** The part of a box's content to draw: what is visible and a margin. It follows the box's scrolling and size. */
export const useVisibleArea = (box: RefObject<HTMLElement | null>, scale = 1): Area => {
  const [area, setArea] = useState(first);
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return;
    const update = (): void =>
      setArea((before) =>
        covers(before, around(current, margin.left, scale)) ? before : around(current, margin.drawn, scale),
      );
    // Reports the size once at the beginning, after the browser's own layout.
    const observer = new ResizeObserver(update);
    observer.observe(current);
    current.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      current.removeEventListener("scroll", update);
    };
  }, [scale]);
  return area;
};
