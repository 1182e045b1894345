export interface Shown {
  readonly element: "img" | "audio" | "video";
  readonly type: string;
}

/** What bytes are, by their first ones. */
export interface Media {
  /** For instance `PNG`. */
  readonly name: string;
  /** How a browser shows it without running anything; absent for what it cannot show so. */
  readonly shown?: Shown;
  readonly width?: number;
  readonly height?: number;
}

interface Signature extends Media {
  readonly at: number;
  /** Latin letters stand for their bytes. */
  readonly bytes: string;
  readonly size?: (view: DataView) => readonly [number, number] | undefined;
}

/** The frame header of a JPEG stands behind segments of which each has its length. */
const jpegSize = (view: DataView): readonly [number, number] | undefined => {
  for (let at = 2; at + 9 < view.byteLength && view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
  }
  return undefined;
};

const image = (type: string): Shown => ({ element: "img", type });
const audio = (type: string): Shown => ({ element: "audio", type });
const video = (type: string): Shown => ({ element: "video", type });

/** SVG and HTML are left out on purpose: they can hold scripts, and addresses to load. */
const signatures: readonly Signature[] = [
  {
    name: "PNG",
    shown: image("image/png"),
    at: 0,
    bytes: "\x89PNG\r\n\x1a\n",
    size: (view) => [view.getUint32(16), view.getUint32(20)],
  },
  { name: "JPEG", shown: image("image/jpeg"), at: 0, bytes: "\xff\xd8\xff", size: jpegSize },
  {
    name: "GIF",
    shown: image("image/gif"),
    at: 0,
    bytes: "GIF8",
    size: (view) => [view.getUint16(6, true), view.getUint16(8, true)],
  },
  { name: "WebP", shown: image("image/webp"), at: 8, bytes: "WEBP" },
  { name: "AVIF", shown: image("image/avif"), at: 4, bytes: "ftypavif" },
  { name: "BMP", shown: image("image/bmp"), at: 0, bytes: "BM" },
  { name: "TIFF", at: 0, bytes: "II*\0" },
  { name: "TIFF", at: 0, bytes: "MM\0*" },
  { name: "WAV", shown: audio("audio/wav"), at: 8, bytes: "WAVE" },
  { name: "MP4", shown: audio("audio/mp4"), at: 4, bytes: "ftypM4A" },
  { name: "MP4", shown: video("video/mp4"), at: 4, bytes: "ftyp" },
  { name: "MP3", shown: audio("audio/mpeg"), at: 0, bytes: "ID3" },
  { name: "MP3", shown: audio("audio/mpeg"), at: 0, bytes: "\xff\xfb" },
  { name: "Ogg", shown: audio("audio/ogg"), at: 0, bytes: "OggS" },
  { name: "FLAC", shown: audio("audio/flac"), at: 0, bytes: "fLaC" },
  // WebM is a kind of it.
  { name: "Matroska", shown: video("video/webm"), at: 0, bytes: "\x1a\x45\xdf\xa3" },
  { name: "PDF", at: 0, bytes: "%PDF-" },
  { name: "Parquet", at: 0, bytes: "PAR1" },
  { name: "ZIP", at: 0, bytes: "PK\x03\x04" },
  { name: "gzip", at: 0, bytes: "\x1f\x8b" },
];

const startsWith = (bytes: Uint8Array, at: number, text: string): boolean =>
  bytes.length >= at + text.length && [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));

/** @returns undefined for bytes of no known format. */
export const mediaOf = (bytes: Uint8Array): Media | undefined => {
  const found = signatures.find(({ at, bytes: text }) => startsWith(bytes, at, text));
  if (found === undefined) return undefined;
  const { name, shown, size } = found;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = (view.byteLength >= 24 && size?.(view)) || [];
  return {
    name,
    ...(shown === undefined ? {} : { shown }),
    ...(width === undefined || height === undefined ? {} : { width, height }),
  };
};
