const magic = 0x184d2204;
const flags = { blockChecksum: 0x10, contentSize: 0x08, contentChecksum: 0x04, dictionary: 0x01 } as const;
/** Bits of the header's first byte that are the format's version, and that version. */
const versionBits = 0xc0;
const version = 0x40;
const checksumBytes = 4;
const uncompressedBit = 0x80000000;
/** No block of LZ4 decompresses to more. */
const maxRatio = 255;

/**
 * The most bytes that an LZ4 frame decompresses to, by the headers of its blocks, which say their sizes only roughly: the
 * last block counts as a full one. See the LZ4 frame format.
 * @returns undefined if the bytes are not exactly one frame.
 */
export const mostBytesOf = (frame: DataView): { readonly bytes: number; readonly blockBytes: number } | undefined => {
  const end = frame.byteLength;
  if (end < 11 || frame.getUint32(0, true) !== magic) return undefined;
  const header = frame.getUint8(4);
  const sizeCode = (frame.getUint8(5) >> 4) & 7;
  if ((header & versionBits) !== version || sizeCode < 4) return undefined;
  const blockBytes = 2 ** (8 + 2 * sizeCode);
  // After the two bytes of flags: size, dictionary id, and a byte of checksum.
  let at = 6 + (header & flags.contentSize ? 8 : 0) + (header & flags.dictionary ? 4 : 0) + 1;
  let bytes = 0;
  while (at + 4 <= end) {
    const size = frame.getUint32(at, true);
    at += 4;
    if (size === 0) {
      at += header & flags.contentChecksum ? checksumBytes : 0;
      return at === end ? { bytes, blockBytes } : undefined;
    }
    const isCompressed = size < uncompressedBit;
    const stored = isCompressed ? size : size - uncompressedBit;
    bytes += isCompressed ? Math.min(blockBytes, stored * maxRatio) : stored;
    at += stored + (header & flags.blockChecksum ? checksumBytes : 0);
  }
  return undefined;
};
