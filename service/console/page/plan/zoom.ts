import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { cardSize, type PlanDrawing } from "./layout.ts";

const limits = { min: 0.1, max: 2 } as const;

const clamped = (scale: number): number => Math.min(limits.max, Math.max(limits.min, scale));

/** The first view of a wide plan is not smaller, so that its cards can be read. */
const minFirst = 0.7;

/** Pixels after which a press of the button is a drag, not a click. */
const dragThreshold = 4;

/** Padding of the box on both sides, in pixels. */
const padding = 32;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Scrolls the box when its content has its new size. */
type Settle = (box: HTMLElement, scale: number) => void;

/** Offset of the scaled content within the scrolled content of the box. */
const offsetOf = (box: HTMLElement): Point => {
  const content = box.firstElementChild as HTMLElement | null;
  return { x: content?.offsetLeft ?? 0, y: content?.offsetTop ?? 0 };
};

const centreRoot =
  ({ cards: [root] }: PlanDrawing): Settle =>
  (box, scale) => {
    if (root === undefined) return;
    box.scrollTop = 0;
    box.scrollLeft = offsetOf(box).x + (root.x + cardSize.width / 2) * scale - box.clientWidth / 2;
  };

/** Keeps what is at a point of the box where it is. */
const keep = (box: HTMLElement, scale: number, at: Point): Settle => {
  const before = offsetOf(box);
  const x = (box.scrollLeft + at.x - before.x) / scale;
  const y = (box.scrollTop + at.y - before.y) / scale;
  return (settled, next) => {
    const after = offsetOf(settled);
    settled.scrollLeft = x * next + after.x - at.x;
    settled.scrollTop = y * next + after.y - at.y;
  };
};

const fitting = (box: HTMLElement, { width, height }: PlanDrawing): Point => ({
  x: (box.clientWidth - padding) / width,
  y: (Number.parseFloat(getComputedStyle(box).maxHeight) - padding) / height,
});

/** Scale and place of a drawing in its box, which scrolls: by buttons, keys, Ctrl and wheel, and by dragging. */
export const useZoom = (box: RefObject<HTMLElement | null>, drawing: PlanDrawing) => {
  const [scale, setScale] = useState(1);
  const latest = useRef({ scale, drawing });
  latest.current = { scale, drawing };
  const settle = useRef<Settle | undefined>(undefined);
  const [round, setRound] = useState(0);
  const zoomTo = (next: number, then: Settle): void => {
    settle.current = then;
    setScale(clamped(next));
    setRound((value) => value + 1);
  };
  useLayoutEffect(() => {
    if (box.current !== null) settle.current?.(box.current, scale);
    settle.current = undefined;
  }, [round]);

  const zoomBy = (factor: number, at?: Point): void => {
    const { current } = box;
    if (current === null) return;
    const middle = { x: current.clientWidth / 2, y: current.clientHeight / 2 };
    zoomTo(latest.current.scale * factor, keep(current, latest.current.scale, at ?? middle));
  };
  const fit = (): void => {
    const { current } = box;
    if (current === null) return;
    const { x, y } = fitting(current, drawing);
    zoomTo(Math.min(1, x, y), centreRoot(drawing));
  };

  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return;
    zoomTo(Math.min(1, Math.max(minFirst, fitting(current, drawing).x)), centreRoot(drawing));
  }, []);

  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    // The wheel alone scrolls, as everywhere.
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = current.getBoundingClientRect();
      zoomBy(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top });
    };
    current.addEventListener("wheel", onWheel, { passive: false });
    return () => current.removeEventListener("wheel", onWheel);
  }, []);

  const drag = useRef<{ from: Point; scroll: Point; moved: boolean } | undefined>(undefined);
  const handlers = {
    onPointerDown: (event: PointerEvent): void => {
      // Fingers scroll by themselves.
      if (event.pointerType !== "mouse" || event.button !== 0 || box.current === null) return;
      const { scrollLeft, scrollTop } = box.current;
      drag.current = {
        from: { x: event.clientX, y: event.clientY },
        scroll: { x: scrollLeft, y: scrollTop },
        moved: false,
      };
    },
    onPointerMove: (event: PointerEvent): void => {
      // The button may have been released elsewhere.
      if (event.buttons === 0) drag.current = undefined;
      const { current } = drag;
      if (current === undefined || box.current === null) return;
      const [x, y] = [event.clientX - current.from.x, event.clientY - current.from.y];
      if (!current.moved && Math.hypot(x, y) < dragThreshold) return;
      if (!current.moved) box.current.setPointerCapture(event.pointerId);
      current.moved = true;
      box.current.scrollLeft = current.scroll.x - x;
      box.current.scrollTop = current.scroll.y - y;
    },
    onPointerUp: (): void => {
      // The click that ends a drag comes before the next task.
      const moved = drag.current?.moved === true;
      if (moved) setTimeout(() => (drag.current = undefined));
      else drag.current = undefined;
    },
    onPointerCancel: (): void => {
      drag.current = undefined;
    },
    onClickCapture: (event: Event): void => {
      if (drag.current?.moved === true) event.stopPropagation();
    },
  };
  // Before the box is measured, cards would be drawn twice.
  return { scale, isPlaced: round > 0, zoomBy, fit, handlers };
};
