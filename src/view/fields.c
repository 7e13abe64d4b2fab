/* SPDX-License-Identifier: MIT */
/* The fields of all events, by their paths: what colours, histograms and keys are chosen from. */
#include "view/state.h"
#include "base/fail.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

static bool is_listed(const struct kymo_field *field) {
  return field->kind == KYMO_DATA_TOKEN || field->kind == KYMO_DATA_FLAGS || field->kind == KYMO_DATA_TIME ||
         field->kind == KYMO_DATA_NUMBER || field->kind == KYMO_DATA_TEXT;
}

static int add_fields(struct view_field_list *fields, struct kymo_trace *trace,
                      const struct kymo_event_class *class_) {
  const uint32_t *ids;
  size_t count;
  int status = kymo_field_list(trace, class_, &ids, &count);
  for (size_t i = 0; i < count && status == KYMO_OK; i++) {
    struct kymo_field field;
    if (kymo_field_info(trace, class_, ids[i], &field) != KYMO_OK || !is_listed(&field))
      continue;
    if (!KYMO_LIST_ROOM(fields->list, fields->capacity, fields->count))
      return KYMO_E_MEMORY;
    fields->list[fields->count++] = (struct view_field){field.path, field.kind != KYMO_DATA_TEXT};
  }
  return status;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct view_field *)a)->name, ((const struct view_field *)b)->name);
}

/* Of one name there is one; it is numeric if that is so in any class. */
static void join(struct view_field_list *fields) {
  size_t made = 0;
  if (fields->count)
    qsort(fields->list, fields->count, sizeof *fields->list, by_name);
  for (size_t i = 0; i < fields->count; i++) {
    if (made && strcmp(fields->list[made - 1].name, fields->list[i].name) == 0)
      fields->list[made - 1].is_numeric |= fields->list[i].is_numeric;
    else
      fields->list[made++] = fields->list[i];
  }
  fields->count = made;
}

int view_fields(struct view *view, const struct view_field **list, size_t *count, struct kymo_error *error) {
  struct view_field_list *fields = &view->fields;
  struct kymo_trace *trace = view_trace(view, error);
  int status = trace ? KYMO_OK : KYMO_E_SYSTEM;
  for (uint32_t i = 0; status == KYMO_OK && !fields->is_made && i < kymo_trace_class_count(trace); i++)
    if (add_fields(fields, trace, kymo_trace_class(trace, i)) != KYMO_OK)
      status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  if (status == KYMO_OK && !fields->is_made)
    join(fields);
  fields->is_made = status == KYMO_OK;
  fields->count = status == KYMO_OK ? fields->count : 0;
  *list = fields->list;
  *count = fields->count;
  return status;
}
