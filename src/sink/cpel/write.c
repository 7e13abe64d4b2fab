/* SPDX-License-Identifier: MIT */
/*
 * Traces as CPEL files: a new file for any traces (make.h), a copy of one CPEL file (copy.h).
 *
 * Options:
 *   endian=big|little   the byte order; default: that of the trace
 *   for-vpp             only what VPP's own tools can read, which is big-endian too
 *   track=BY            thread, cpu, or the name of a field
 *   clock=us|s          unit of the clocks: ticks per us or s
 *   section=BYTES       maximum size of a section
 */
#include "base/fail.h"
#include "print/options.h"
#include "sink/cpel/copy.h"
#include "sink/cpel/make.h"
#include <errno.h>
#include <kymo/sink.h>
#include <stdlib.h>

enum endian { ENDIAN_BIG = 1, ENDIAN_LITTLE = 2 };

struct own_options {
  uint32_t endian, clock;
  bool for_vpp;
  struct kymo_option_text track, section;
};

struct kymo_sink_state {
  char *track;
  struct kymo_cpel_out out;
  struct kymo_cpel_make make; /* one of both */
  struct kymo_cpel_copy copy;
  bool is_made, is_copied, has_failed;
};

static const struct kymo_option_word endians[] = {{"big", ENDIAN_BIG}, {"little", ENDIAN_LITTLE}, {0}};
static const struct kymo_option_word clocks[] = {{"us", KYMO_CPEL_UNIT_US}, {"s", KYMO_CPEL_UNIT_S}, {0}};
static const struct kymo_option_kind kinds[] = {
    {"endian", offsetof(struct own_options, endian), endians},
    {"for-vpp", offsetof(struct own_options, for_vpp), NULL},
    {"track", offsetof(struct own_options, track), kymo_option_any},
    {"clock", offsetof(struct own_options, clock), clocks},
    {"section", offsetof(struct own_options, section), kymo_option_any},
    {0},
};

/* ---- options ---- */

/* The byte order of the CPEL file or of the trace's schema, else this machine's. */
static bool is_source_big(const struct kymo_trace *trace) {
  bool is_big;
  if (kymo_cpel_order(trace, &is_big))
    return is_big;
  const struct kymo_part *part = kymo_trace_part_count(trace) ? kymo_trace_part(trace, 0) : NULL;
  return part ? part->schema->order == KYMO_ORDER_BIG : __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Sections have at least the head of an event section and an event, and at most the maximum of their size
 * field. */
static int read_section(const struct kymo_option_text *text, uint64_t *most, struct kymo_error *error) {
  char copy[24] = {0}, *end = copy;
  *most = KYMO_CPEL_SECTION_MOST;
  if (!text->text)
    return KYMO_OK;
  memcpy(copy, text->text, text->length < sizeof copy - 1 ? text->length : sizeof copy - 1);
  errno = 0;
  *most = strtoull(copy, &end, 10);
  if (*copy < '0' || *copy > '9' || *end || errno || *most < 128 || *most > KYMO_CPEL_SECTION_MOST)
    return kymo_fail(error, KYMO_E_USAGE,
                     "the option \"section\" of the format \"cpel\" is 128 to %u bytes, not \"%s\"",
                     KYMO_CPEL_SECTION_MOST, copy);
  return KYMO_OK;
}

static int read_demand(struct kymo_sink_state *state, const struct own_options *own,
                       struct kymo_cpel_demand *demand, struct kymo_error *error) {
  demand->for_vpp = own->for_vpp;
  demand->unit = (enum kymo_cpel_unit)own->clock;
  if (own->for_vpp && own->endian == ENDIAN_LITTLE)
    return kymo_fail(error, KYMO_E_USAGE, "VPP's tools read big-endian files only");
  if (own->for_vpp && own->clock == KYMO_CPEL_UNIT_US)
    return kymo_fail(error, KYMO_E_USAGE, "VPP's tools take clocks for ticks a second");
  if (own->track.text) {
    demand->track = state->track = strndup(own->track.text, own->track.length);
    if (!state->track)
      return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  }
  return read_section(&own->section, &demand->section_most, error);
}

/* ---- the sink ---- */

static int begin(struct kymo_sink_state **out, struct kymo_trace *trace,
                 const struct kymo_sink_options *options, struct kymo_error *error) {
  struct kymo_sink_state *state = *out = calloc(1, sizeof *state);
  struct own_options own = {0};
  struct kymo_cpel_demand demand = {.path = options->path};
  if (!state)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  state->out.fd = -1;
  state->has_failed = true;
  int status = kymo_sink_options_read("cpel", options->text, kinds, &own, error);
  if (status == KYMO_OK)
    status = read_demand(state, &own, &demand, error);
  if (status != KYMO_OK)
    return status;
  bool is_big = own.for_vpp || own.endian == ENDIAN_BIG || (!own.endian && is_source_big(trace));
  state->is_copied = kymo_cpel_can_copy(trace) && !own.for_vpp && !demand.track && !own.section.text;
  state->is_made = !state->is_copied;
  status = state->is_copied ? kymo_cpel_copy_begin(&state->copy, trace, &state->out, options->path, error)
                            : kymo_cpel_make_begin(&state->make, trace, &demand, &state->out, error);
  if (status == KYMO_OK)
    status = kymo_cpel_out_begin(&state->out, options->path, is_big, error);
  state->has_failed = status < 0;
  return status;
}

static int write_event(struct kymo_sink_state *state, const struct kymo_event *event,
                       struct kymo_error *error) {
  int status = state->is_copied ? kymo_cpel_copy_event(&state->copy, event, error)
                                : kymo_cpel_make_event(&state->make, event, error);
  state->has_failed |= status < 0;
  return status;
}

static int end(struct kymo_sink_state *state, struct kymo_error *error) {
  int status = KYMO_OK;
  if (!state)
    return status;
  if (!state->has_failed)
    status = state->is_copied ? kymo_cpel_copy_write(&state->copy, error)
                              : kymo_cpel_make_write(&state->make, error);
  bool is_whole = !state->has_failed && status == KYMO_OK;
  int closed = kymo_cpel_out_end(&state->out, is_whole, is_whole ? error : NULL);
  status = status < 0 ? status : closed;
  if (state->is_made)
    kymo_cpel_make_end(&state->make);
  if (state->is_copied)
    kymo_cpel_copy_end(&state->copy);
  free(state->track);
  free(state);
  return status;
}

const struct kymo_sink kymo_sink_cpel_file = {
    KYMO_SINK_ABI,       .name = "cpel", .summary = "CPEL, the event files of VPP's tools",
    .makes_files = true, .begin = begin, .event = write_event,
    .end = end,
};
