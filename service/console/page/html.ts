import htm from "htm";
import { type ComponentChildren, h } from "preact";

/** Preact elements from a template. Values become text or properties, never markup. */
export const html = htm.bind(h);

export type Children = ComponentChildren;
