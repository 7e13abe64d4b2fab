/* SPDX-License-Identifier: MIT */
/* Any bytes as TDL: a checked tree, or an error with a code and a place; never a slot that is not filled. */
#include "lang/tdl/tdl.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const struct kymo_error *error) {
  char message[2048];
  if (holds)
    return;
  fprintf(stderr, "%s\n", kymo_error_text(error, message, sizeof message));
  abort();
}

static void warn(void *context, const struct kymo_error *warning) {
  (void)context;
  must(warning->code == KYMO_OK && warning->line > 0 && warning->message[0] == 'W', warning);
}

/* Slots are numbered without gaps, and each has an item that fills it, or stands for a list. */
static void check_slots(const struct tdl_slot *slots, uint32_t first, uint32_t count) {
  for (const struct tdl_slot *slot = slots; slot; slot = slot->next, first++)
    must(slot->index == first &&
             (slot->is_parameter || slot->first || (!slot->name && slot->repeats > 0)), /* a named REPEAT */
         &(struct kymo_error){.message = "slot"});
  must(first == count, &(struct kymo_error){.message = "count of slots"});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kymo_error error = {.code = KYMO_OK};
  const struct kymo_warnings warnings = {.warn = warn};
  struct tdl_tree *tree = kymo_tdl_parse((const char *)data, size, "input", &error);
  if (!tree || kymo_tdl_check(tree, &warnings, &error) != KYMO_OK) {
    must(error.code < 0 && error.line > 0 && error.message[0] == 'E', &error);
    kymo_tdl_free(tree);
    return 0;
  }
  for (const struct tdl_record *record = tree->records; record; record = record->next)
    check_slots(record->slots, record->prefix ? record->prefix->slot_count : 0, record->slot_count);
  kymo_tdl_free(tree);
  return 0;
}
