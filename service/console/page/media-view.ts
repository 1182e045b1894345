import { useEffect, useRef, useState } from "preact/hooks";
import type { Cell, ReadParts } from "./cell.ts";
import { formatBytes } from "./format.ts";
import { html } from "./html.ts";
import { useAction } from "./load.ts";
import type { Shown } from "./media.ts";
import { Failure } from "./parts.ts";

/** A browser keeps what it shows; larger values are for a client. */
const maxShownBytes = 256 * 2 ** 20;

type Bytes = Extract<Cell, { readonly kind: "bytes" | "blob" }>;

const elements: Readonly<Record<Shown["element"], (props: object) => unknown>> = {
  img: (props) => html`<img class="thumbnail" ...${props} />`,
  audio: (props) => html`<audio class="player" controls autoplay ...${props}></audio>`,
  video: (props) => html`<video class="thumbnail" controls autoplay ...${props}></video>`,
};

const wholeOf = (cell: Bytes): ReadParts =>
  cell.kind === "blob" ? cell.read : async () => [new Uint8Array(cell.bytes)];

/** An image, a sound or a film, at the reader's request. These elements run no script and load nothing, whatever the bytes hold. */
export const MediaView = ({ cell }: { cell: Bytes }) => {
  const [address, setAddress] = useState<string | undefined>();
  const [failed, setFailed] = useState(false);
  const [read, setRead] = useState(0);
  const reading = useRef<AbortController>(null);
  const { busy, error, run } = useAction();
  useEffect(() => () => reading.current?.abort(), []);
  useEffect(() => () => (address === undefined ? undefined : URL.revokeObjectURL(address)), [address]);
  const { media } = cell;
  const shown = media?.shown;
  if (media === undefined || shown === undefined) return null;
  const size = cell.kind === "blob" ? cell.size : cell.bytes.length;
  if (size > maxShownBytes)
    return html`<span class="muted">more than ${formatBytes(maxShownBytes)}: read it with a client</span>`;
  if (failed) return html`<span class="problem">no valid ${media.name}</span>`;
  if (address !== undefined)
    return elements[shown.element]({
      src: address,
      onError: () => setFailed(true),
      [shown.element === "img" ? "alt" : "aria-label"]: `${media.name} of this row`,
    });
  if (busy)
    return html`<span role="status">${formatBytes(read)} read</span>
      <button type="button" class="quiet" onClick=${() => reading.current?.abort()}>Stop</button>`;
  const show = (): void => {
    const controller = new AbortController();
    reading.current = controller;
    setRead(0);
    void run(async () => {
      const parts = await wholeOf(cell)(controller.signal, setRead);
      setAddress(URL.createObjectURL(new Blob([...parts], { type: shown.type })));
    });
  };
  return html`<button type="button" class="quiet" onClick=${show}>${shown.element === "img" ? "Show" : "Play"}</button>
    ${error !== undefined && html`<${Failure} error=${error} />`}`;
};
