/* SPDX-License-Identifier: MIT */
#include "sink/arrow/flat.h"
#include <string.h>

static void add_number(struct kymo_strbuf *flat, uint64_t value, unsigned size) {
  char bytes[8];
  for (unsigned i = 0; i < size; i++)
    bytes[i] = (char)(value >> 8 * i);
  kymo_strbuf_add(flat, bytes, size);
}

/* Zeros until the length is `rest` more than a multiple of `align`. */
static void pad(struct kymo_strbuf *flat, size_t align, size_t rest) {
  static const char zeros[8];
  kymo_strbuf_add(flat, zeros, (align + rest - flat->length % align) % align);
}

void kymo_flat_begin(struct kymo_strbuf *flat) {
  flat->length = 0;
  add_number(flat, 0, 8);
}

void kymo_flat_end(struct kymo_strbuf *flat, size_t root) {
  kymo_flat_refer(flat, 0, root);
  pad(flat, 8, 0);
}

size_t kymo_flat_table(struct kymo_strbuf *flat, struct kymo_flat_field *fields, unsigned count) {
  const size_t head = 4 + 2 * (size_t)count;
  size_t size = 4;
  for (unsigned i = 0; i < count; i++) {
    if (fields[i].size == 0)
      continue;
    size = (size + fields[i].size - 1) / fields[i].size * fields[i].size;
    fields[i].at = size; /* in the table, at first */
    size += fields[i].size;
  }
  pad(flat, 8, (8 - head % 8) % 8);
  const size_t table = flat->length + head;
  add_number(flat, head, 2);
  add_number(flat, size, 2);
  for (unsigned i = 0; i < count; i++)
    add_number(flat, fields[i].size ? fields[i].at : 0, 2);
  add_number(flat, head, 4);
  for (unsigned i = 0; i < count; i++) {
    if (fields[i].size == 0)
      continue;
    fields[i].at += table;
    pad(flat, fields[i].size, 0);
    add_number(flat, fields[i].value, fields[i].size);
  }
  return table;
}

size_t kymo_flat_text(struct kymo_strbuf *flat, const char *text) {
  pad(flat, 4, 0);
  const size_t at = flat->length, length = strlen(text);
  add_number(flat, length, 4);
  kymo_strbuf_add(flat, text, length);
  add_number(flat, 0, 1);
  return at;
}

size_t kymo_flat_vector(struct kymo_strbuf *flat, const void *elements, size_t count, size_t size_bytes) {
  pad(flat, 8, 4); /* the elements are at a multiple of 8 */
  const size_t at = flat->length;
  add_number(flat, count, 4);
  for (size_t i = 0; i < count * size_bytes / 8 && elements; i++)
    add_number(flat, ((const uint64_t *)elements)[i], 8);
  for (size_t i = 0; i < count && !elements; i++)
    add_number(flat, 0, 4);
  return at;
}

void kymo_flat_refer(struct kymo_strbuf *flat, size_t at, size_t to) {
  for (unsigned i = 0; i < 4 && !flat->failed; i++)
    flat->text[at + i] = (char)((to - at) >> 8 * i);
}
