/* SPDX-License-Identifier: MIT */
#include "view/event_text.h"

/* The text of a field, or of the event's message if `field` is NULL: as kymo/get.h. */
static int format(const struct kymo_event *event, const uint32_t *field, char *out, size_t size,
                  size_t *length) {
  return field ? kymo_event_format_field(event, *field, out, size, length)
               : kymo_event_format_message(event, out, size, length);
}

/* Replaces `out` with that text. KYMO_OK, KYMO_E_MEMORY; others: there is no such text. */
static int take_text(const struct kymo_event *event, const uint32_t *field, struct kymo_strbuf *out) {
  enum { USUAL_BYTES = 256 };
  size_t length = 0;
  out->length = 0;
  out->failed = false;
  char *room = kymo_strbuf_room(out, USUAL_BYTES);
  int status = room ? format(event, field, room, USUAL_BYTES, &length) : KYMO_E_MEMORY;
  if (status == KYMO_E_RANGE) {
    room = kymo_strbuf_room(out, length + 1);
    status = room ? format(event, field, room, length + 1, &length) : KYMO_E_MEMORY;
  }
  if (status == KYMO_OK)
    kymo_strbuf_used(out, length);
  return status;
}

static bool is_wanted(const struct kymo_event *event, uint32_t id, const struct kymo_field *field,
                      enum view_fields which) {
  bool is_of_packet = field->scope == KYMO_SCOPE_PACKET_HEADER || field->scope == KYMO_SCOPE_PACKET_CONTEXT;
  return field->kind != KYMO_DATA_GROUP && (which == VIEW_FIELDS_ALL || !is_of_packet) &&
         (which != VIEW_FIELDS_OF_PAYLOAD || field->scope == KYMO_SCOPE_PAYLOAD) && kymo_event_has(event, id);
}

int view_each_field(struct kymo_trace *trace, const struct kymo_event *event, enum view_fields which,
                    struct kymo_strbuf *text, view_field_handler *handler, void *user) {
  const uint32_t *ids;
  size_t count;
  int status = kymo_field_list(trace, event->class_, &ids, &count);
  if (status != KYMO_OK)
    return status == KYMO_E_MEMORY ? status : KYMO_OK;
  for (size_t i = 0; i < count && status != KYMO_E_MEMORY; i++) {
    struct kymo_field field;
    status = kymo_field_info(trace, event->class_, ids[i], &field);
    if (status != KYMO_OK || !is_wanted(event, ids[i], &field, which))
      continue;
    status = take_text(event, &ids[i], text);
    if (status == KYMO_OK && !handler(user, field.path, text->text))
      break;
  }
  return status == KYMO_E_MEMORY ? status : KYMO_OK;
}

static bool add_field(void *user, const char *path, const char *text) {
  struct kymo_strbuf *out = user;
  kymo_strbuf_printf(out, "%s%s = %s", out->length ? ", " : "", path, text);
  return true;
}

int view_event_text(struct kymo_trace *trace, const struct kymo_event *event, struct kymo_strbuf *text,
                    struct kymo_strbuf *out) {
  int status = take_text(event, NULL, out);
  if (status != KYMO_OK && status != KYMO_E_MEMORY)
    status = view_each_field(trace, event, VIEW_FIELDS_OF_PAYLOAD, text, add_field, out);
  return out->failed ? KYMO_E_MEMORY : status;
}
