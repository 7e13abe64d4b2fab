/* SPDX-License-Identifier: MIT */
/*
 * Format strings of files: eight bytes of a number, then any format. An accepted format is rendered, and the
 * result must equal what the C library prints by the same format, rebuilt from the parsed pieces.
 */
#include "base/bytes.h"
#include "base/printfmt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "%-08lld": of 64 bits, as the number was widened. */
static void write_format(char out[64], const struct kymo_printfmt_piece *piece) {
  char precision[16] = "", width[16] = "";
  if (piece->width)
    snprintf(width, sizeof width, "%u", piece->width);
  if (piece->has_precision)
    snprintf(precision, sizeof precision, ".%u", piece->precision);
  snprintf(out, 64, "%%%s%s%s%s%s%s%s%s%c", piece->left ? "-" : "", piece->plus ? "+" : "",
           piece->blank ? " " : "", piece->alternate ? "#" : "", piece->zero ? "0" : "", width, precision,
           piece->conversion == 'c' ? "" : "ll", piece->conversion);
}

static void check(const struct kymo_printfmt_piece *piece, uint64_t value, unsigned bits) {
  char format[64], wanted[KYMO_PRINTFMT_ROOM + 1],
      *made = malloc(KYMO_PRINTFMT_ROOM); /* its end is watched */
  bool is_signed = piece->conversion == 'd' || piece->conversion == 'i';
  if (!made)
    abort();
  value &= kymo_bits_mask(bits);
  size_t length = (size_t)(kymo_printfmt_number(made, piece, value, bits) - made);
  if (is_signed && bits < 64 && value >> (bits - 1))
    value |= ~kymo_bits_mask(bits);
  write_format(format, piece);
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  int printed = piece->conversion == 'c' ? snprintf(wanted, sizeof wanted, format, (int)value)
                                         : snprintf(wanted, sizeof wanted, format, (long long)value);
  if (printed < 0 || (size_t)printed != length || memcmp(made, wanted, length) != 0)
    abort();
  free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_arena arena = {0};
  struct kymo_printfmt parsed;
  struct kymo_printfmt_fault fault;
  if (size < 8)
    return 0;
  uint64_t value = kymo_load_le64(data);
  if (kymo_printfmt_parse(&parsed, &arena, (const char *)data + 8, size - 8, "diuoxXcskI", &fault)) {
    for (size_t i = 0; i < parsed.count; i++)
      for (unsigned bits = 8; bits <= 64; bits *= 2)
        if (parsed.pieces[i].conversion && strchr("diuoxXc", parsed.pieces[i].conversion))
          check(&parsed.pieces[i], value, bits);
  } else if (fault.at > size - 8) {
    abort();
  }
  kymo_arena_free(&arena);
  return 0;
}
