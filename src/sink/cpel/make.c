/* SPDX-License-Identifier: MIT */
#include "sink/cpel/make.h"
#include "base/fail.h"
#include "base/list.h"
#include "source/format.h"
#include "trace/part.h"
#include <inttypes.h>
#include <stdlib.h>

#define NAMES_TABLE "FileStrtab"
#define SECTION_HEAD 72 /* of events: table, count, clock */
#define LIST_HEAD 68    /* of definitions and symbols: table, count */
#define OWN_CLOCKS 64   /* clocks that are written in their ticks */
#define NANOSECONDS 1000000000u
/* Clocks up to this frequency are read as ticks per microsecond, unless specified otherwise. */
#define PER_MICROSECOND_MAX 100000
/* The limits of g2. */
#define VPP_DEFINITIONS 100000

/* How the times of a clock are written: clock 0 is the one of nanoseconds. */
struct clock {
  uint32_t number;
  uint64_t frequency;
  size_t section;
};

struct kymo_cpel_clocks {
  struct clock list[1 + OWN_CLOCKS];
  uint32_t count;
  uint32_t **numbers; /* by part and clock index: in the list */
};

/* A section of events. */
struct kymo_cpel_events {
  uint32_t clock, table;
  uint64_t count;
  struct kymo_spool spool;
};

#define NO_SECTION SIZE_MAX

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- clocks ---- */

/* The number that means a frequency, or 0 if none does. */
static uint32_t clock_number(uint64_t frequency, enum kymo_cpel_unit unit) {
  uint64_t per_us = frequency % 1000000 == 0 ? frequency / 1000000 : 0;
  switch (unit) {
  case KYMO_CPEL_UNIT_S: return frequency <= UINT32_MAX ? (uint32_t)frequency : 0;
  case KYMO_CPEL_UNIT_US: return per_us <= UINT32_MAX ? (uint32_t)per_us : 0;
  default:
    if (frequency > PER_MICROSECOND_MAX && frequency <= UINT32_MAX)
      return (uint32_t)frequency;
    return per_us <= PER_MICROSECOND_MAX ? (uint32_t)per_us : 0;
  }
}

/* Whether the times of a clock are its ticks. */
static bool is_own(const struct kymo_cpel_make *make, const struct kymo_part *part,
                   const struct kymo_clock *clock) {
  return !make->demand.for_vpp && !kymo_part_offset_ns(part) && !clock->origin_is_epoch &&
         !clock->offset_seconds && !clock->offset_cycles &&
         clock_number(clock->frequency, make->demand.unit) != 0;
}

static int begin_clocks(struct kymo_cpel_make *make, struct kymo_error *error) {
  size_t parts = kymo_trace_part_count(make->trace);
  struct kymo_cpel_clocks *clocks = make->clocks = kymo_arena_alloc(&make->arena, sizeof *clocks);
  if (!clocks || !(clocks->numbers = kymo_arena_array(&make->arena, parts + 1, sizeof *clocks->numbers)))
    return no_memory(error);
  clocks->list[clocks->count++] =
      (struct clock){clock_number(NANOSECONDS, make->demand.unit), NANOSECONDS, NO_SECTION};
  for (size_t i = 0; i < parts; i++) {
    const struct kymo_part *part = kymo_trace_part(make->trace, i);
    const struct kymo_schema *schema = part->schema;
    clocks->numbers[i] = kymo_arena_array(&make->arena, schema->clock_count + 1u, sizeof **clocks->numbers);
    if (!clocks->numbers[i])
      return no_memory(error);
    for (uint32_t j = 0; j < schema->clock_count && clocks->count <= OWN_CLOCKS; j++) {
      uint64_t frequency = schema->clocks[j]->frequency;
      if (!is_own(make, part, schema->clocks[j]))
        continue;
      clocks->numbers[i][j] = clocks->count;
      clocks->list[clocks->count++] =
          (struct clock){clock_number(frequency, make->demand.unit), frequency, NO_SECTION};
    }
  }
  return KYMO_OK;
}

static uint32_t clock_of(const struct kymo_cpel_make *make, const struct kymo_event *event) {
  const struct kymo_clock *clock = event->class_->stream->clock;
  return clock && event->has_time ? make->clocks->numbers[event->packet->stream->part->index][clock->index]
                                  : 0;
}

/* ---- sections ---- */

static int fail_vpp(const struct kymo_cpel_make *make, struct kymo_error *error, const char *what) {
  return kymo_fail_at(error, KYMO_E_LIMIT, make->demand.path, KYMO_ERROR_NO_OFFSET,
                      "%s, which VPP's tools cannot read", what);
}

static int add_table(struct kymo_cpel_make *make, struct kymo_error *error) {
  char name[KYMO_CPEL_NAME_BYTES];
  if (!KYMO_LIST_ROOM(make->tables, make->table_room, make->table_count))
    return no_memory(error);
  struct kymo_cpel_strings *table = &make->tables[make->table_count++];
  snprintf(name, sizeof name, make->table_count > 1 ? "Texts%zu" : "Texts", make->table_count);
  return kymo_cpel_strings_begin(table, make->demand.path, name, make->demand.section_most, error);
}

/* The next sections use another table of strings. */
static int change_table(struct kymo_cpel_make *make, struct kymo_error *error) {
  int status = KYMO_OK;
  if (make->demand.for_vpp)
    return fail_vpp(make, error, "more texts than a section has space for");
  status = kymo_cpel_strings_close(&make->tables[make->table_count - 1], error);
  for (uint32_t i = 0; i < make->clocks->count && status == KYMO_OK; i++) {
    size_t section = make->clocks->list[i].section;
    make->clocks->list[i].section = NO_SECTION;
    status = section == NO_SECTION ? KYMO_OK : kymo_spool_close(&make->sections[section].spool, error);
  }
  return status == KYMO_OK ? add_table(make, error) : status;
}

static int add_section(struct kymo_cpel_make *make, uint32_t clock, struct kymo_error *error) {
  if (!KYMO_LIST_ROOM(make->sections, make->section_room, make->section_count))
    return no_memory(error);
  struct kymo_cpel_events *section = &make->sections[make->section_count];
  *section = (struct kymo_cpel_events){.clock = clock, .table = (uint32_t)make->table_count - 1};
  kymo_spool_begin(&section->spool, make->demand.path);
  make->clocks->list[clock].section = make->section_count++;
  return KYMO_OK;
}

/* The section that the next event of a clock goes to. */
static int find_section(struct kymo_cpel_make *make, uint32_t clock, struct kymo_cpel_events **out,
                        struct kymo_error *error) {
  size_t at = make->clocks->list[clock].section;
  struct kymo_cpel_events *section = at == NO_SECTION ? NULL : &make->sections[at];
  int status = KYMO_OK;
  if (section && SECTION_HEAD + (section->count + 1) * KYMO_CPEL_EVENT_BYTES > make->demand.section_most) {
    if (make->demand.for_vpp)
      return fail_vpp(make, error, "more events than a section has space for");
    status = kymo_spool_close(&section->spool, error);
    section = NULL;
  }
  if (!section && status == KYMO_OK)
    status = add_section(make, clock, error);
  if (status == KYMO_OK)
    *out = &make->sections[make->clocks->list[clock].section];
  return status;
}

/* ---- events ---- */

/* The time as it is written: ticks, or nanoseconds that may be negative until all times are known. */
static int make_time(struct kymo_cpel_make *make, const struct kymo_event *event, uint32_t clock,
                     uint64_t *time, struct kymo_error *error) {
  int64_t now_ns = event->has_time ? event->time_ns : make->has_first ? make->last_ns : 0;
  make->untimed += !event->has_time;
  if (event->has_time && !make->has_first) {
    const struct kymo_clock *own_clock = event->class_->stream->clock;
    make->has_first = true;
    make->first_ns = make->least_ns = now_ns;
    make->is_epoch = own_clock && own_clock->origin_is_epoch;
  }
  make->last_ns = now_ns;
  *time = clock ? event->cycles : (uint64_t)now_ns;
  if (!clock && now_ns < make->least_ns)
    make->least_ns = now_ns;
  if (!make->demand.for_vpp)
    return KYMO_OK;
  if (now_ns < make->first_ns)
    return kymo_fail_at(error, KYMO_E_LIMIT, event->packet->stream->path, KYMO_ERROR_NO_OFFSET,
                        "event %" PRIu64 " (\"%s\") is %" PRIu64
                        " ns before the first one, which VPP's tools cannot show",
                        make->number, event->class_->name, (uint64_t)make->first_ns - (uint64_t)now_ns);
  *time = (uint64_t)now_ns - (uint64_t)make->first_ns;
  return KYMO_OK;
}

/* The datum: a number, or the offset of the string. */
static int make_datum(struct kymo_cpel_make *make, const struct kymo_cpel_value *value, uint32_t *datum,
                      struct kymo_error *error) {
  *datum = value->number;
  if (!value->text)
    return KYMO_OK;
  int status =
      kymo_cpel_strings_add(&make->tables[make->table_count - 1], value->text, value->length, datum, error);
  if (status != KYMO_E_LIMIT)
    return status;
  status = change_table(make, error);
  if (status == KYMO_OK)
    status =
        kymo_cpel_strings_add(&make->tables[make->table_count - 1], value->text, value->length, datum, error);
  return status != KYMO_E_LIMIT || make->demand.for_vpp
             ? status
             : kymo_fail_at(error, KYMO_E_LIMIT, make->demand.path, KYMO_ERROR_NO_OFFSET,
                            "a text of %zu bytes in a section of at most %" PRIu64, value->length,
                            make->demand.section_most);
}

int kymo_cpel_make_event(struct kymo_cpel_make *make, const struct kymo_event *event,
                         struct kymo_error *error) {
  struct kymo_cpel_value value;
  struct kymo_cpel_events *section = NULL;
  uint32_t track = 0, datum = 0, clock = clock_of(make, event);
  uint64_t time = 0;
  make->number++;
  int status = kymo_cpel_track_of(&make->tracks, event, &track, error);
  if (status == KYMO_OK)
    status = kymo_cpel_value_of(&make->classes, event, &value, error);
  if (status == KYMO_OK)
    status = make_time(make, event, clock, &time, error);
  if (status == KYMO_OK)
    status = make_datum(make, &value, &datum, error);
  if (status == KYMO_OK)
    status = find_section(make, clock, &section, error);
  if (status < 0)
    return status;
  uint32_t words[] = {(uint32_t)(time >> 32), (uint32_t)time, track, value.code, datum};
  uint8_t bytes[KYMO_CPEL_EVENT_BYTES];
  for (size_t i = 0; i < 5; i++)
    kymo_cpel_store(bytes + 4 * i, words[i], make->out->is_big);
  section->count++;
  return kymo_spool_add(&section->spool, bytes, sizeof bytes, error);
}

/* ---- the file ---- */

/* What the definitions refer to: offsets of their formats, two each. */
struct offsets {
  uint32_t *list;
  size_t count;
};

static int add_formats(struct kymo_cpel_strings *names, const struct kymo_cpel_definitions *all,
                       struct offsets *offsets, struct kymo_error *error) {
  int status = KYMO_OK;
  offsets->list = calloc(all->count + 1, 2 * sizeof *offsets->list);
  if (!offsets->list)
    return no_memory(error);
  for (size_t i = 0; i < all->count && status == KYMO_OK; i++) {
    const struct kymo_cpel_definition *one = all->list[i];
    uint32_t *place = offsets->list + 2 * i;
    offsets->count += one->format != NULL;
    if (one->format)
      status = kymo_cpel_strings_add(names, one->format, strlen(one->format), place, error);
    if (one->datum_format && status == KYMO_OK)
      status = kymo_cpel_strings_add(names, one->datum_format, strlen(one->datum_format), place + 1, error);
  }
  return status == KYMO_E_LIMIT
             ? kymo_fail(error, KYMO_E_LIMIT, "names and formats are longer than a section")
             : status;
}

/* A section of definitions or symbols: entries of a number and `width` offsets. */
static int write_definitions(struct kymo_cpel_make *make, enum kymo_cpel_type type,
                             const struct kymo_cpel_definitions *all, const struct offsets *offsets,
                             struct kymo_error *error) {
  struct kymo_cpel_out *out = make->out;
  size_t width = type == KYMO_CPEL_EVENT_DEFINITIONS ? 2 : 1;
  uint32_t count = (uint32_t)offsets->count;
  int status =
      kymo_cpel_out_section(out, type, LIST_HEAD + (uint64_t)count * 4 * (1 + width), NAMES_TABLE, error);
  if (status == KYMO_OK)
    status = kymo_cpel_out_words(out, &count, 1, error);
  for (size_t i = 0; i < all->count && status == KYMO_OK; i++) {
    uint32_t words[] = {all->list[i]->number, offsets->list[2 * i], offsets->list[2 * i + 1]};
    if (all->list[i]->format)
      status = kymo_cpel_out_words(out, words, 1 + width, error);
  }
  return status;
}

static int write_strings(struct kymo_cpel_make *make, struct kymo_cpel_strings *strings,
                         struct kymo_error *error) {
  int status = kymo_cpel_strings_close(strings, error);
  if (status == KYMO_OK)
    status =
        kymo_cpel_out_section(make->out, KYMO_CPEL_STRINGS, kymo_spool_size(&strings->spool), NULL, error);
  return status == KYMO_OK ? kymo_cpel_out_spool(make->out, &strings->spool, error) : status;
}

/* If times begin before 0, they are written relative to the earliest. */
static int take_events(void *user, uint8_t *bytes, size_t size, struct kymo_error *error) {
  struct kymo_cpel_make *make = user;
  bool is_big = make->out->is_big;
  for (size_t at = 0; at < size; at += KYMO_CPEL_EVENT_BYTES) {
    uint64_t time =
        (uint64_t)kymo_cpel_load(bytes + at, is_big) << 32 | kymo_cpel_load(bytes + at + 4, is_big);
    time -= (uint64_t)make->least_ns;
    kymo_cpel_store(bytes + at, (uint32_t)(time >> 32), is_big);
    kymo_cpel_store(bytes + at + 4, (uint32_t)time, is_big);
  }
  return kymo_cpel_out_bytes(make->out, bytes, size, error);
}

static int write_events(struct kymo_cpel_make *make, struct kymo_cpel_events *section,
                        struct kymo_error *error) {
  uint32_t words[] = {(uint32_t)section->count, make->clocks->list[section->clock].number};
  uint64_t size = SECTION_HEAD + section->count * KYMO_CPEL_EVENT_BYTES;
  bool must_move = !make->demand.for_vpp && section->clock == 0 && make->least_ns < 0;
  int status =
      kymo_cpel_out_section(make->out, KYMO_CPEL_EVENTS, size, make->tables[section->table].name, error);
  if (status == KYMO_OK)
    status = kymo_cpel_out_words(make->out, words, 2, error);
  if (status != KYMO_OK)
    return status;
  return must_move ? kymo_spool_send(&section->spool, KYMO_CPEL_EVENT_BYTES, take_events, make, error)
                   : kymo_cpel_out_spool(make->out, &section->spool, error);
}

/* When the file was created: as in the CPEL file that the events come from, else the time of the first
 * event. */
static uint32_t date_of(const struct kymo_cpel_make *make) {
  const struct kymo_schema *schema =
      kymo_trace_part_count(make->trace) ? kymo_trace_part(make->trace, 0)->schema : NULL;
  const struct kymo_environment *date = schema ? kymo_schema_environment(schema, "cpel_date") : NULL;
  int64_t seconds = make->first_ns / NANOSECONDS;
  if (date && !date->text)
    return (uint32_t)date->integer;
  return make->is_epoch && seconds >= 0 && seconds <= UINT32_MAX ? (uint32_t)seconds : 0;
}

static int write_lists(struct kymo_cpel_make *make, const struct offsets offsets[3],
                       struct kymo_error *error) {
  int status = KYMO_OK;
  if (offsets[0].count)
    status = write_definitions(make, KYMO_CPEL_SYMBOLS, &make->classes.symbols, &offsets[0], error);
  if (offsets[1].count && status == KYMO_OK)
    status = write_definitions(make, KYMO_CPEL_EVENT_DEFINITIONS, &make->classes.all, &offsets[1], error);
  if (offsets[2].count && status == KYMO_OK)
    status = write_definitions(make, KYMO_CPEL_TRACK_DEFINITIONS, &make->tracks.all, &offsets[2], error);
  return status;
}

static int write_all(struct kymo_cpel_make *make, struct kymo_cpel_strings *names,
                     const struct offsets offsets[3], struct kymo_error *error) {
  struct kymo_cpel_head head = {.first = 1, .date = date_of(make)};
  head.sections = (uint32_t)(1 + make->table_count + make->section_count);
  for (int i = 0; i < 3; i++)
    head.sections += offsets[i].count > 0;
  int status = kymo_cpel_out_head(make->out, &head, error);
  if (status == KYMO_OK)
    status = write_strings(make, names, error);
  for (size_t i = 0; i < make->table_count && status == KYMO_OK; i++)
    status = write_strings(make, &make->tables[i], error);
  /* one clock at a time: cpeldump prints each section from 0 */
  if (status == KYMO_OK)
    status = write_lists(make, offsets, error);
  for (uint32_t clock = 0; clock < make->clocks->count; clock++)
    for (size_t i = 0; i < make->section_count && status == KYMO_OK; i++)
      if (make->sections[i].clock == clock)
        status = write_events(make, &make->sections[i], error);
  return status;
}

int kymo_cpel_make_write(struct kymo_cpel_make *make, struct kymo_error *error) {
  struct kymo_cpel_definitions *lists[] = {&make->classes.symbols, &make->classes.all, &make->tracks.all};
  struct kymo_cpel_strings names;
  struct offsets offsets[3] = {0};
  int status = kymo_cpel_strings_begin(&names, make->demand.path, NAMES_TABLE, KYMO_CPEL_SECTION_MOST, error);
  if (make->demand.for_vpp && make->classes.all.count > VPP_DEFINITIONS && status == KYMO_OK)
    status = fail_vpp(make, error, "more than 100000 event definitions");
  for (int i = 0; i < 3 && status == KYMO_OK; i++) {
    kymo_cpel_definitions_sort(lists[i]);
    status = add_formats(&names, lists[i], &offsets[i], error);
  }
  if (status == KYMO_OK)
    status = write_all(make, &names, offsets, error);
  for (int i = 0; i < 3; i++)
    free(offsets[i].list);
  kymo_cpel_strings_end(&names);
  if (make->untimed && status == KYMO_OK)
    kymo_trace_warn(make->trace, make->demand.path, KYMO_ERROR_NO_OFFSET,
                    "%" PRIu64 " event%s without a time %s that of the event before: "
                    "CPEL has a time for each event",
                    make->untimed, make->untimed == 1 ? "" : "s", make->untimed == 1 ? "has" : "have");
  return status;
}

/* ---- life ---- */

int kymo_cpel_make_begin(struct kymo_cpel_make *make, struct kymo_trace *trace,
                         const struct kymo_cpel_demand *demand, struct kymo_cpel_out *out,
                         struct kymo_error *error) {
  *make = (struct kymo_cpel_make){.trace = trace, .demand = *demand, .out = out};
  int status = kymo_cpel_classes_begin(&make->classes, trace, demand->for_vpp, error);
  if (status == KYMO_OK)
    status =
        kymo_cpel_tracks_begin(&make->tracks, trace, &make->classes.fields.print.whos, demand->track, error);
  make->classes.by = make->tracks.by;
  if (status == KYMO_OK)
    status = begin_clocks(make, error);
  return status == KYMO_OK ? add_table(make, error) : status;
}

void kymo_cpel_make_end(struct kymo_cpel_make *make) {
  for (size_t i = 0; i < make->section_count; i++)
    kymo_spool_end(&make->sections[i].spool);
  for (size_t i = 0; i < make->table_count; i++)
    kymo_cpel_strings_end(&make->tables[i]);
  free(make->sections);
  free(make->tables);
  kymo_cpel_tracks_end(&make->tracks);
  kymo_cpel_classes_end(&make->classes);
  kymo_arena_free(&make->arena);
}
