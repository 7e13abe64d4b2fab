/* SPDX-License-Identifier: MIT */
/*
 * The command that shows an instance. It can be pasted as it is printed: at the end of a terminal line it
 * continues on a new line inside of the filter, or after a backslash.
 */
#include "stat/instance.h"
#include "base/utf8.h"
#include <errno.h>
#include <inttypes.h>
#include <kymo/time.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where the command may be broken: between words, and inside of the filter's quotes. */
#define BREAK "\f"
#define BREAK_INSIDE "\v"

/* In the form of a filter, in local time as in kymo cat. */
static void add_moment(struct kymo_strbuf *out, int64_t time_ns) {
  char text[KYMO_TIME_TEXT], *gap;
  time_t second = (time_t)(time_ns / 1000000000);
  struct tm local;
  bool is_local = time_ns >= 0 && localtime_r(&second, &local) && local.tm_gmtoff % 60 == 0;
  long zone = is_local ? local.tm_gmtoff / 60 : 0;
  kymo_time_to_text(time_ns, is_local ? KYMO_TIME_LOCAL : KYMO_TIME_UTC, text);
  if ((gap = strchr(text, ' ')))
    *gap = 'T';
  kymo_strbuf_printf(out, "\"%s", text);
  if (is_local && zone)
    kymo_strbuf_printf(out, "%c%02ld:%02ld", zone < 0 ? '-' : '+', labs(zone) / 60, labs(zone) % 60);
  else if (is_local)
    kymo_strbuf_puts(out, "Z");
  kymo_strbuf_puts(out, "\"");
}

/* A clock that has no epoch counts from the begin of the trace. */
static void add_distance(struct kymo_strbuf *out, int64_t time_ns, int64_t begin_ns) {
  int64_t distance = (int64_t)((uint64_t)time_ns - (uint64_t)begin_ns);
  kymo_strbuf_printf(out, "+%" PRId64 " ns", distance > 0 ? distance : 0);
}

static void add_time(struct kymo_strbuf *out, const struct kymo_instance *instance, int64_t time_ns,
                     int64_t origin_ns) {
  if (instance->is_epoch)
    add_moment(out, time_ns);
  else
    add_distance(out, time_ns, origin_ns);
}

static void add_filter(struct kymo_strbuf *out, const struct kymo_instance *instance, int64_t origin_ns) {
  bool is_back = !instance->is_open && instance->end_ns < instance->begin_ns; /* of clocks that are apart */
  kymo_strbuf_puts(out, "--filter 'TIME IN (");
  add_time(out, instance, is_back ? instance->end_ns : instance->begin_ns, origin_ns);
  kymo_strbuf_puts(out, " .." BREAK_INSIDE);
  if (instance->is_open)
    kymo_strbuf_puts(out, "END");
  else
    add_time(out, instance, is_back ? instance->begin_ns : instance->end_ns, origin_ns);
  kymo_strbuf_puts(out, ")");
  if (instance->has_tid)
    kymo_strbuf_printf(out, BREAK_INSIDE "AND tid = %" PRId64, instance->tid);
  kymo_strbuf_puts(out, "'");
}

/* Prints it in lines that fit. */
static void put_command(const struct kymo_report *report, const char *text) {
  enum { INDENT = 4, BACKSLASH = 2 };
  int at = 0;
  for (bool is_first = true; *text; is_first = false) {
    size_t length = strcspn(text, BREAK BREAK_INSIDE);
    bool is_inside = !is_first && text[-1] == *BREAK_INSIDE;
    int width = 0;
    for (size_t i = 0; i < length; i++)
      width += kymo_begins_character(text[i]);
    if (!is_first && report->width && at + 1 + width + BACKSLASH > report->width) {
      kymo_report_put(report, "%s\n%*s", is_inside ? "" : " \\", 2 * INDENT, "");
      at = 2 * INDENT;
    } else {
      kymo_report_put(report, "%*s", is_first ? INDENT : 1, "");
      at += is_first ? INDENT : 1;
    }
    kymo_out_bytes(report->out, text, length);
    at += width;
    text += length;
    text += *text != 0;
  }
  kymo_out_byte(report->out, '\n');
}

int64_t kymo_instance_origin(const struct kymo_report *report) {
  int64_t begin_ns, end_ns;
  struct kymo_error error;
  int status = kymo_trace_range(report->trace, &begin_ns, &end_ns, &error);
  if (status == KYMO_E_MEMORY)
    report->out->error_number = ENOMEM;
  return status < 0 ? 0 : begin_ns;
}

void kymo_instance_put_command(const struct kymo_report *report, const struct kymo_instance *instance,
                               int64_t origin_ns) {
  struct kymo_strbuf command = {0};
  kymo_strbuf_printf(&command, "%s" BREAK, report->command);
  add_filter(&command, instance, origin_ns);
  if (command.failed)
    report->out->error_number = ENOMEM;
  else
    put_command(report, command.text);
  kymo_strbuf_free(&command);
}
