/* SPDX-License-Identifier: MIT */
#include "filter/names.h"
#include "schema/attribute.h"
#include "schema/parts.h"
#include <string.h>

/* As kymo list calls them. */
static const struct kymo_mapping level_names[] = {
    {"emergency", 0, 0},        {"alert", 1, 1},         {"critical", 2, 2},       {"error", 3, 3},
    {"warning", 4, 4},          {"notice", 5, 5},        {"info", 6, 6},           {"debug:system", 7, 7},
    {"debug:program", 8, 8},    {"debug:process", 9, 9}, {"debug:module", 10, 10}, {"debug:unit", 11, 11},
    {"debug:function", 12, 12}, {"debug:line", 13, 13},  {"debug", 14, 14},
};

const struct kymo_type kymo_level_type = {.kind = KYMO_KIND_INTEGER,
                                          .size_bits = 8,
                                          .is_enumeration = true,
                                          .mapping_count = sizeof level_names / sizeof *level_names,
                                          .mappings = level_names};

static const struct {
  const char *name;
  enum kymo_stand_in what;
} stand_ins[] = {
    {"EVENT", KYMO_STAND_IN_EVENT},     {"group", KYMO_STAND_IN_GROUP},
    {"level", KYMO_STAND_IN_LEVEL},     {"ACQUISITION", KYMO_STAND_IN_TIME},
    {"STREAM", KYMO_STAND_IN_STREAM},   {"SEQUENCE", KYMO_STAND_IN_SEQUENCE},
    {"tid", KYMO_STAND_IN_ALIAS},       {"thread", KYMO_STAND_IN_ALIAS},
    {"cpu", KYMO_STAND_IN_ALIAS},       {"pid", KYMO_STAND_IN_PID},
    {"process", KYMO_STAND_IN_PROCESS},
};

static const char *const aliases[][2] = {
    {"tid", "vtid"},    {"thread", "thread_name"}, {"thread", "procname"},
    {"thread", "comm"}, {"pid", "vpid"},           {"process", "procname"},
    {"cpu", "cpu_id"},  {"STREAM", "cpu_id"},      {"STREAM", "cpu"},
};

enum kymo_stand_in kymo_stand_in_of(const char *name) {
  for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
    if (strcmp(name, stand_ins[i].name) == 0)
      return stand_ins[i].what;
  return KYMO_STAND_IN_NONE;
}

const struct kymo_environment *kymo_stand_in_environment(const struct kymo_schema *schema, const char *name) {
  enum kymo_stand_in what = kymo_stand_in_of(name);
  bool is_pid = what == KYMO_STAND_IN_PID;
  const struct kymo_environment *entry = NULL;
  if (is_pid || what == KYMO_STAND_IN_PROCESS)
    entry = kymo_schema_environment(schema, is_pid ? "vpid" : "procname");
  return entry && !entry->text == is_pid ? entry : NULL;
}

const char *kymo_stand_in_alias(const char *name, size_t index) {
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (strcmp(name, aliases[i][0]) == 0 && index-- == 0)
      return aliases[i][1];
  return NULL;
}

const char *kymo_stand_in_name(size_t index) {
  return index < sizeof stand_ins / sizeof *stand_ins ? stand_ins[index].name : NULL;
}

bool kymo_filter_is_kind(const struct kymo_event_class *class_, const char *name) {
  const char *whole = class_->name ? class_->name : "", *colon = strchr(whole, ':');
  const char *kind = class_->attributes ? kymo_attribute_find(class_->attributes, "\"kymo.kind\"") : NULL;
  size_t length = strlen(name);
  if (strcmp(whole, name) == 0 || (colon && strcmp(colon + 1, name) == 0))
    return true;
  return kind && kind[0] == '"' && strncmp(kind + 1, name, length) == 0 && kind[length + 1] == '"';
}

bool kymo_filter_is_no_event(const struct kymo_event_class *class_) {
  return class_->attributes && kymo_attribute_find(class_->attributes, "\"kymo.class\"");
}
