/* SPDX-License-Identifier: MIT */
/*
 * Definition records: a byte of flags and one with the record's length, then the record, then an event of
 * it. An accepted record is written as the same bytes again; every value of an event is within the event.
 */
#include "schema/definition.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const struct kymo_event_definition *definition, const uint8_t *record, size_t size) {
  unsigned char *again = malloc(size);
  if (!again || kymo_event_definition_size(definition) != size)
    abort();
  kymo_event_definition_put(definition, again);
  if (memcmp(again, record, size))
    abort();
  free(again);
}

static void read_event(const struct kymo_event_definition *definition, const uint8_t *event, size_t size,
                       bool is_big) {
  struct kymo_bytes bytes = {.data = event, .size = size, .is_big = is_big};
  struct kymo_event_definition_value value;
  struct kymo_event_definition_fault fault;
  volatile uint8_t last;
  for (uint32_t i = 0; i < definition->field_count; i++) {
    if (!kymo_event_definition_read(definition, i, &bytes, &value, &fault))
      break;
    uint32_t element = kymo_field_element(definition->fields[i].what);
    if (value.count)
      last = value.bytes[(size_t)value.count * (element ? element : 1) - 1];
  }
  (void)last;
  if (bytes.at > size || (!kymo_event_definition_fits(definition, event, size, is_big, &fault) &&
                          (fault.at > size || !fault.text[0])))
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_event_definition definition;
  struct kymo_event_definition_fault fault;
  if (size < 2)
    return 0;
  bool is_big = data[0] & 1;
  size_t length = data[1] < size - 2 ? data[1] : size - 2;
  uint8_t *record = malloc(length + 1), *event = malloc(size - 2 - length + 1);
  if (!record || !event)
    abort();
  /* copies as long as they are, so that a sanitizer sees the first byte read too far */
  record = realloc(record, length ? length : 1);
  memcpy(record, data + 2, length);
  memcpy(event, data + 2 + length, size - 2 - length);
  event = realloc(event, size - 2 - length ? size - 2 - length : 1);
  if (!kymo_event_definition_parse(&definition, record, length, is_big, &fault)) {
    if (fault.at > length || !fault.text[0])
      abort();
  } else {
    if (is_big == KYMO_HOST_IS_BIG)
      write_again(&definition, record, length);
    read_event(&definition, event, size - 2 - length, is_big);
  }
  free(record);
  free(event);
  return 0;
}
