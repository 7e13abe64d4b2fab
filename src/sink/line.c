/* SPDX-License-Identifier: MIT */
/* Options that the formats with one line per event share. */
#include "sink/line.h"
#include <string.h>

/* The option was given. */
#define SAID (UINT32_C(1) << 31)

static const struct kymo_option_word fields[] = {
    {"trace", SAID | KYMO_LINE_TRACE},
    {"trace:hostname", SAID | KYMO_LINE_HOSTNAME},
    {"trace:domain", SAID | KYMO_LINE_DOMAIN},
    {"trace:procname", SAID | KYMO_LINE_PROCNAME},
    {"trace:vpid", SAID | KYMO_LINE_VPID},
    {"loglevel", SAID | KYMO_LINE_LEVEL},
    {"emf", SAID | KYMO_LINE_EMF},
    {"callsite", SAID}, /* which babeltrace2 accepts and never shows */
    {"none", SAID},
    {"all", UINT32_MAX},
    {0},
};

static const struct kymo_option_word names[] = {
    {"payload", SAID | KYMO_LINE_PAYLOAD},
    {"arg", SAID | KYMO_LINE_PAYLOAD},
    {"args", SAID | KYMO_LINE_PAYLOAD},
    {"context", SAID | KYMO_LINE_CONTEXT},
    {"ctx", SAID | KYMO_LINE_CONTEXT},
    {"scope", SAID | KYMO_LINE_SCOPE},
    {"header", SAID | KYMO_LINE_HEADER},
    {"none", SAID},
    {"all", UINT32_MAX},
    {0},
};

/* The first one is only for babeltrace2. */
static const struct kymo_option_kind kinds[] = {
    {"2.1", offsetof(struct kymo_line, as_2_1), NULL},
    {"fields", offsetof(struct kymo_line, fields), fields},
    {"names", offsetof(struct kymo_line, names), names},
    {"no-delta", offsetof(struct kymo_line, no_delta), NULL},
    {"clock-cycles", offsetof(struct kymo_line, clock_cycles), NULL},
    {"clock-date", offsetof(struct kymo_line, clock_date), NULL},
    {"clock-gmt", offsetof(struct kymo_line, clock_gmt), NULL},
    {"clock-seconds", offsetof(struct kymo_line, clock_seconds), NULL},
    {0},
};

int kymo_line_read(struct kymo_line *line, const char *sink, const char *text, uint32_t shown,
                   struct kymo_error *error) {
  *line = (struct kymo_line){0};
  bool has_versions = strcmp(sink, "babeltrace2") == 0;
  int status = kymo_sink_options_read(sink, text, has_versions ? kinds : kinds + 1, line, error);
  if (!line->fields)
    line->fields = shown;
  if (!line->names)
    line->names = KYMO_LINE_PAYLOAD | KYMO_LINE_CONTEXT;
  return status;
}

const char *kymo_line_level(const struct kymo_event_class *class_) {
  static const char *const levels[] = {
      "TRACE_EMERG",          "TRACE_ALERT",         "TRACE_CRIT",         "TRACE_ERR",
      "TRACE_WARNING",        "TRACE_NOTICE",        "TRACE_INFO",         "TRACE_DEBUG_SYSTEM",
      "TRACE_DEBUG_PROGRAM",  "TRACE_DEBUG_PROCESS", "TRACE_DEBUG_MODULE", "TRACE_DEBUG_UNIT",
      "TRACE_DEBUG_FUNCTION", "TRACE_DEBUG_LINE",    "TRACE_DEBUG",
  };
  bool is_known = class_->level >= 0 && class_->level < (int32_t)(sizeof(levels) / sizeof(levels[0]));
  return is_known ? levels[class_->level] : NULL;
}
