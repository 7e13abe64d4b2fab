/* SPDX-License-Identifier: MIT */
#include "sink/export/arguments.h"
#include "print/json_value.h"

bool kymo_arguments_begin(struct kymo_arguments *arguments) {
  *arguments = (struct kymo_arguments){.walk = kymo_walk_new()};
  return arguments->walk;
}

void kymo_arguments_end(struct kymo_arguments *arguments) {
  kymo_walk_free(arguments->walk);
  kymo_strbuf_free(&arguments->text);
  kymo_strbuf_free(&arguments->message);
}

const char *kymo_arguments_message(struct kymo_arguments *arguments, const struct kymo_event *event,
                                   size_t *length) {
  struct kymo_strbuf *message = &arguments->message;
  int status = kymo_event_format_message(event, message->text, message->capacity, length);
  if (status == KYMO_E_RANGE) {
    message->length = 0;
    if (!kymo_strbuf_room(message, *length + 1))
      return NULL;
    status = kymo_event_format_message(event, message->text, message->capacity, length);
  }
  message->failed |= status == KYMO_E_MEMORY;
  return status == KYMO_OK ? message->text : NULL;
}

void kymo_arguments_add(struct kymo_arguments *arguments, const struct kymo_event *event) {
  static const struct kymo_type group = {.kind = KYMO_KIND_STRUCT}, text = {.encoding = KYMO_ENCODING_UTF8};
  struct kymo_strbuf *out = &arguments->text;
  struct kymo_value value = {.type = &text};
  size_t length;
  out->length = 0;
  const char *message = kymo_arguments_message(arguments, event, &length);
  if (message) {
    value.bytes = (const uint8_t *)message;
    value.count = length;
    kymo_strbuf_puts(out, "\"message\":");
    kymo_json_add_scalar(out, KYMO_TOKEN_TEXT, &value);
  }
  if (!kymo_walk_begin(arguments->walk, event, KYMO_SCOPE_PAYLOAD))
    return;
  const size_t before = out->length;
  if (message)
    kymo_strbuf_puts(out, ",");
  const size_t comma = out->length;
  kymo_json_add_rest(out, arguments->walk, &group);
  if (out->length == comma && out->text) /* no field was there */
    out->text[out->length = before] = '\0';
}
