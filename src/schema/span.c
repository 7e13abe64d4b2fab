/* SPDX-License-Identifier: MIT */
#include "schema/span.h"
#include "schema/attribute.h"
#include <kymo/schema.h>
#include <string.h>

#define KEY "\"kymo.span\""
#define BEGIN "\"begin\""
#define END "\"end\""

const char *kymo_span_attributes(const char *edge) {
  return strcmp(edge, "begin") ? "{" KEY ":" END "}" : "{" KEY ":" BEGIN "}";
}

static bool is_string(const char *json, const char *string) { return !strncmp(json, string, strlen(string)); }

enum kymo_edge kymo_event_class_edge(const struct kymo_event_class *class_, size_t *length) {
  const char *value = class_->attributes ? kymo_attribute_find(class_->attributes, KEY) : NULL;
  if (!value || (!is_string(value, BEGIN) && !is_string(value, END)))
    return KYMO_EDGE_NONE;
  bool is_begin = is_string(value, BEGIN);
  size_t all = class_->name ? strlen(class_->name) : 0, ending = strlen(is_begin ? "_begin" : "_end");
  if (all > ending && !strcmp(class_->name + all - ending, is_begin ? "_begin" : "_end"))
    all -= ending;
  if (length)
    *length = all;
  return is_begin ? KYMO_EDGE_BEGIN : KYMO_EDGE_END;
}
