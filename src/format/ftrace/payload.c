/* SPDX-License-Identifier: MIT */
#include "format/ftrace/payload.h"

static uint32_t load32(const uint8_t *from, bool is_big) {
  return is_big ? kymo_load_be32(from) : kymo_load_le32(from);
}

/* Where the value of a field is that a record has anywhere; false: it is not in the record. */
static bool find_value(const uint8_t *record, size_t size, bool is_big, const struct kymo_ftrace_step *step,
                       size_t *from, size_t *length) {
  if (step->place == KYMO_FTRACE_REST) {
    *from = step->from < size ? step->from : size;
    *length = size - *from;
    return true;
  }
  uint32_t place = load32(record + step->from, is_big);
  *from = place & 0xffff;
  *length = place >> 16;
  if (step->place == KYMO_FTRACE_REL_LOC)
    *from += step->from + 4;
  if (*length == 0)
    *from = 0;
  return *from <= size && *length <= size - *from;
}

static bool store_value(struct kymo_block *packet, const uint8_t *from, size_t length,
                        const struct kymo_ftrace_step *step) {
  if (!kymo_block_reserve(packet, length + 8))
    return false;
  if (step->kind == KYMO_FTRACE_PUT_TEXT) {
    kymo_block_text(packet, from, length ? strnlen((const char *)from, length) : 0);
    return true;
  }
  size_t count = length / step->size;
  kymo_block_number(packet, count, 4);
  if (count)
    memcpy(packet->at, from, count * step->size);
  packet->at += count * step->size;
  return true;
}

int kymo_ftrace_put_payload(struct kymo_block *packet, const struct kymo_ftrace_class *class_,
                            const uint8_t *record, size_t size, bool is_big, struct ftrace_missing *missing) {
  for (uint32_t i = 0; i < class_->step_count; i++) {
    const struct kymo_ftrace_step *step = &class_->steps[i];
    size_t from, length;
    if (step->kind == KYMO_FTRACE_COPY) {
      if (!kymo_block_reserve(packet, step->size))
        return KYMO_E_MEMORY;
      memcpy(packet->at, record + step->from, step->size);
      packet->at += step->size;
      continue;
    }
    if (!find_value(record, size, is_big, step, &from, &length)) {
      *missing = (struct ftrace_missing){step, from, length};
      return KYMO_E_FORMAT;
    }
    if (!store_value(packet, record + from, length, step))
      return KYMO_E_MEMORY;
    if (kymo_block_used(packet) > FTRACE_PAYLOAD_MAX) { /* fields that all mean the same large value */
      *missing = (struct ftrace_missing){0};
      return KYMO_E_FORMAT;
    }
  }
  return KYMO_OK;
}
