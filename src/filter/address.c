/* SPDX-License-Identifier: MIT */
/*
 * Addresses in filters: compared with a text they mean the names of the symbols there. "main" is each
 * address in main, "main+0x1c" this one; names of C++ may be written demangled or as the file spells them.
 * An address without a name is unequal to every name.
 */
#include "filter/machine.h"
#include "source/modules.h"
#include "trace/namer.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_address(const struct filter_value *value) {
  return value->v.sort == KYMO_SORT_NUMBER && value->type && value->type->is_address &&
         value->type->mapping_count == 0;
}

static bool find_name(struct filter_look *look, const struct filter_value *address,
                      struct kymo_address_name *name) {
  const struct kymo_part *part = look->event->packet->stream->part;
  struct filter_machine *machine = look->machine;
  if (!kymo_part_has_modules(part))
    return false;
  if (!machine->names && !(machine->names = kymo_namer.begin(machine->trace))) {
    machine->failed = KYMO_E_MEMORY;
    return false;
  }
  return kymo_namer.find(machine->names, part, address->v.n.low, look->event, name);
}

/* Whether the text is the name, with the offset or without it. */
static bool is_name(const struct filter_value *text, const char *name, uint64_t offset) {
  char suffix[24];
  size_t length = strlen(name), rest = (size_t)snprintf(suffix, sizeof suffix, "+0x%" PRIx64, offset);
  if (text->v.size < length || memcmp(text->v.p, name, length) != 0)
    return false;
  return text->v.size == length ||
         (text->v.size == length + rest && memcmp(text->v.p + length, suffix, rest) == 0);
}

static bool is_called(struct filter_look *look, const struct filter_value *address,
                      const struct filter_value *text) {
  struct kymo_address_name name;
  return find_name(look, address, &name) &&
         (is_name(text, name.name, name.offset) || is_name(text, name.mangled, name.offset));
}

bool kymo_filter_relate_at(struct filter_look *look, const struct filter_value *a,
                           enum kymo_filter_relation relation, const struct filter_value *b) {
  const struct filter_value *address = is_address(a)   ? a
                                       : is_address(b) ? b
                                                       : NULL,
                            *other = address == a ? b : a;
  bool is_name = address && other->v.sort == KYMO_SORT_BYTES && relation <= KYMO_FILTER_UNEQUAL &&
                 !(other->literal && other->literal->address.size);
  if (!is_name)
    return kymo_filter_relate(a, relation, b);
  return is_called(look, address, other) == (relation == KYMO_FILTER_EQUAL);
}

bool kymo_filter_name_matches(struct filter_look *look, const struct filter_value *address,
                              struct kymo_regex_memory *pattern) {
  struct kymo_address_name name;
  return is_address(address) && find_name(look, address, &name) &&
         kymo_regex_matches(pattern, (const uint8_t *)name.name, strlen(name.name));
}
