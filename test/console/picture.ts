import { deflateSync } from "node:zlib";

const crc = (bytes: Buffer): number =>
  ~bytes.reduce((sum, byte) => {
    let value = sum ^ byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  }, ~0);

const chunk = (name: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeInt32BE(crc(body));
  return Buffer.concat([length, body, check]);
};

/** A PNG of noise, which does not compress. */
export const picture = (width: number, height: number): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const noise = Buffer.from(Array.from({ length: (width * 3 + 1) * height }, (_, at) => (at * 2_654_435_761) >>> 13));
  for (let row = 0; row < height; row++) noise[row * (width * 3 + 1)] = 0;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(noise, { level: 0 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};
