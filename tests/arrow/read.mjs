// SPDX-License-Identifier: MIT
// Prints Arrow files or streams by npm's apache-arrow: of each the schema, the number of batches, and the number of rows, then each
// row as JSON. Numbers of 64 bits are exact; NaN and infinities are texts, bytes are hexadecimal digits.
//
//   KYMO_MODULES=… node read.mjs FILE…
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.KYMO_MODULES, 'x.js'));
const arrow = require('apache-arrow');
const { decompress } = require('fzstd');
const lz4 = require('lz4js');
const registry = arrow.compressionRegistry;
registry?.set(arrow.CompressionType.ZSTD, { decode: (bytes) => decompress(bytes).slice() });
registry?.set(arrow.CompressionType.LZ4_FRAME, { decode: (bytes) => lz4.decompress(bytes) });

function raw(vector, index) {
  for (const data of vector.data) {
    if (index < data.length) return data.values[index];
    index -= data.length;
  }
  throw new Error('there is no such row');
}

function real(value) {
  return Number.isNaN(value) ? '"NaN"' : Number.isFinite(value) ? (Object.is(value, -0) ? '-0.0' : JSON.stringify(value)) : `"${value}"`;
}

function text(vector, index) {
  const type = vector.type;
  if (!vector.isValid(index)) return 'null';
  if (arrow.DataType.isStruct(type))
    return `{${type.children.map((field, i) => `${JSON.stringify(field.name)}:${text(vector.getChildAt(i), index)}`).join(',')}}`;
  if (arrow.DataType.isTimestamp(type)) return String(raw(vector, index));
  const value = vector.get(index);
  if (arrow.DataType.isList(type)) return `[${Array.from({ length: value.length }, (_, i) => text(value, i)).join(',')}]`;
  if (arrow.DataType.isFloat(type)) return real(value);
  if (arrow.DataType.isBinary(type)) return JSON.stringify(Buffer.from(value).toString('hex'));
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

for (const path of process.argv.slice(2)) {
  const table = arrow.tableFromIPC(readFileSync(path));
  const fields = table.schema.fields.map((field) => [field.name, String(field.type)]);
  const columns = fields.map(([name], i) => [JSON.stringify(name), table.getChildAt(i)]);
  const lines = [JSON.stringify({ batches: table.batches.length, rows: table.numRows, fields })];
  for (let row = 0; row < table.numRows; row++)
    lines.push(`{${columns.map(([name, column]) => `${name}:${text(column, row)}`).join(',')}}`);
  console.log(lines.join('\n'));
}
