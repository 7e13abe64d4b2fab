// SPDX-License-Identifier: MIT
// Small PNGs: a picture of a page with at most 64 colours, as a palette.
import {crc32 as crcOf, deflateSync, inflateSync} from 'node:zlib';

const COLOURS = 64;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const TABLE = Uint32Array.from({length: 256}, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n; });
function crc32(bytes) {
  if (crcOf)
    return crcOf(bytes);
  let crc = ~0;
  for (const byte of bytes)
    crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function* chunks(bytes) {
  for (let at = SIGNATURE.length; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    yield {type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, at + 8 + length)};
    at += 12 + length;
  }
}
function chunk(type, data) {
  const head = Buffer.alloc(4), body = Buffer.concat([Buffer.from(type, 'latin1'), data]), end = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  end.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, end]);
}

/** Red, green and blue of each pixel, of a PNG as Chromium writes it: 8 bits, not interlaced. */
function decode(bytes) {
  const all = [...chunks(bytes)], header = all.find(item => item.type === 'IHDR').data, width = header.readUInt32BE(0), height = header.readUInt32BE(4), size = {2: 3, 6: 4}[header[9]];
  if (header[8] !== 8 || !size || header[12] !== 0)
    throw new Error('This form of PNG is not known.');
  const rows = inflateSync(Buffer.concat(all.filter(item => item.type === 'IDAT').map(item => item.data))), length = width * size, pixels = Buffer.alloc(width * height * 3);
  let before = Buffer.alloc(length);
  for (let y = 0; y < height; y++) {
    const how = rows[y * (length + 1)], row = Buffer.from(rows.subarray(y * (length + 1) + 1, (y + 1) * (length + 1)));
    for (let i = 0; i < length; i++) {
      const left = i < size ? 0 : row[i - size], up = before[i], corner = i < size ? 0 : before[i - size], guess = left + up - corner, a = Math.abs(guess - left), b = Math.abs(guess - up), c = Math.abs(guess - corner);
      row[i] += [0, left, up, (left + up) >> 1, a <= b && a <= c ? left : b <= c ? up : corner][how];
    }
    for (let x = 0; x < width; x++)
      row.copy(pixels, (y * width + x) * 3, x * size, x * size + 3);
    before = row;
  }
  return {width, height, pixels};
}

/** The colours that are most common; others become the nearest of them. */
export function small(bytes) {
  const {width, height, pixels} = decode(bytes), counts = new Map(), rows = Buffer.alloc(height * (width + 1)), nearest = new Map();
  const colours = new Uint32Array(width * height);
  for (let i = 0; i < colours.length; i++) {
    colours[i] = pixels.readUIntBE(i * 3, 3);
    counts.set(colours[i], (counts.get(colours[i]) ?? 0) + 1);
  }
  const palette = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, COLOURS).map(([colour]) => colour), distance = (a, b) => [16, 8, 0].reduce((sum, bits) => sum + ((a >> bits & 255) - (b >> bits & 255)) ** 2, 0);
  palette.forEach((colour, i) => nearest.set(colour, i));
  colours.forEach((colour, i) => {
    if (!nearest.has(colour))
      nearest.set(colour, palette.reduce((best, other, at) => distance(colour, other) < distance(colour, palette[best]) ? at : best, 0));
    rows[Math.floor(i / width) * (width + 1) + 1 + i % width] = nearest.get(colour);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('PLTE', Buffer.from(palette.flatMap(colour => [colour >> 16, colour >> 8 & 255, colour & 255]))), chunk('IDAT', deflateSync(rows, {level: 9})), chunk('IEND', Buffer.alloc(0))]);
}
