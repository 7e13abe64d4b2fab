/* SPDX-License-Identifier: MIT */
#include "sink/cpel/track.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "print/labels.h"
#include <inttypes.h>
#include <stdlib.h>

/* A field with more values cannot be a track. */
#define TRACKS_MAX (1u << 20)
#define LATE 256 /* remembered values of fields */

/* Where the events of a class have a field; NONE: nowhere. Own: it is the track of a CPEL event. */
struct place {
  uint32_t field;
  bool is_own;
};
struct kymo_cpel_track_class {
  bool is_set;
  struct place wished, own;
};

/* What an event has there. */
struct found {
  const struct kymo_type *type;
  uint32_t field;
  bool is_own;
};

/* A recently used value, and its track. */
struct kymo_cpel_track_late {
  const struct kymo_type *type;
  uint64_t value;
  uint32_t number;
  bool is_own;
};

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- definitions ---- */

/* A track: its key, the wished number, and its name if it is new. Name NULL: it has none. */
struct wish {
  struct kymo_strbuf key, name;
  uint64_t number;
};

static int define(struct kymo_cpel_tracks *tracks, struct wish *wish, uint32_t *number,
                  struct kymo_error *error) {
  size_t before = tracks->all.count;
  struct kymo_cpel_definition *track =
      wish->key.failed || wish->name.failed
          ? NULL
          : kymo_cpel_define(&tracks->all, wish->key.text, wish->key.length, wish->number);
  int status = track ? KYMO_OK : no_memory(error);
  if (track && tracks->all.count > before && wish->name.length) {
    track->format = kymo_cpel_literal(&tracks->all, wish->name.text, wish->name.length);
    status = track->format ? KYMO_OK : no_memory(error);
  }
  if (status == KYMO_OK && tracks->all.count > TRACKS_MAX)
    status = kymo_fail(error, KYMO_E_LIMIT, "more than %u tracks: choose others by --track", TRACKS_MAX);
  if (status == KYMO_OK)
    *number = track->number;
  kymo_strbuf_free(&wish->key);
  kymo_strbuf_free(&wish->name);
  return status;
}

/* ---- threads and processors ---- */

static const char *begin_host(const struct kymo_cpel_tracks *tracks, struct wish *wish,
                              const struct kymo_event *event, char kind) {
  const char *host = kymo_host_of(event->packet->stream->part);
  host = host ? host : "";
  kymo_strbuf_printf(&wish->key, "%c%s/", kind, host);
  if (tracks->many_hosts)
    kymo_strbuf_printf(&wish->name, "%s:", host);
  return host;
}

static void wish_thread(const struct kymo_cpel_tracks *tracks, struct wish *wish,
                        const struct kymo_event *event, const struct kymo_who *who) {
  begin_host(tracks, wish, event, 'T');
  kymo_strbuf_printf(&wish->key, "%" PRId64, who->tid);
  wish->number = (uint64_t)who->tid;
  if (who->name_length)
    kymo_strbuf_add(&wish->name, who->name, who->name_length);
  kymo_strbuf_printf(&wish->name, who->name_length ? "/%" PRId64 : "thread %" PRId64, who->tid);
}

static void wish_cpu(const struct kymo_cpel_tracks *tracks, struct wish *wish, const struct kymo_event *event,
                     const struct kymo_who *who) {
  begin_host(tracks, wish, event, 'C');
  kymo_strbuf_printf(&wish->key, "%" PRIu64, who->cpu);
  wish->number = who->cpu;
  kymo_strbuf_printf(&wish->name, "cpu %" PRIu64, who->cpu);
}

static int track_by_who(struct kymo_cpel_tracks *tracks, const struct kymo_event *event, uint32_t *number,
                        struct kymo_error *error) {
  struct wish wish = {.number = KYMO_CPEL_NO_WISH};
  const struct kymo_who *who = kymo_who_of(tracks->whos, event);
  if (!who)
    return no_memory(error);
  struct kymo_cpel_track_late *late = &tracks->late[who->version % LATE];
  if (late->value == who->version && !late->type) {
    *number = late->number;
    return KYMO_OK;
  }
  if (who->has_tid && (!who->has_cpu || tracks->by != KYMO_CPEL_BY_CPU)) {
    wish_thread(tracks, &wish, event, who);
  } else if (who->has_cpu) {
    wish_cpu(tracks, &wish, event, who);
  } else {
    uint32_t stream = event->packet->stream->number;
    kymo_strbuf_printf(&wish.key, "S%" PRIu32, stream);
    kymo_strbuf_printf(&wish.name, "stream %" PRIu32, stream);
  }
  int status = define(tracks, &wish, number, error);
  if (status == KYMO_OK)
    *late = (struct kymo_cpel_track_late){NULL, who->version, *number, false};
  return status;
}

/* ---- fields ---- */

static bool is_number(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_INTEGER || type->kind == KYMO_KIND_BOOLEAN ||
         type->kind == KYMO_KIND_BITMAP || type->kind == KYMO_KIND_VARINT;
}

static void wish_number(const struct kymo_cpel_tracks *tracks, struct wish *wish, const struct found *found,
                        uint64_t value) {
  struct kymo_labels labels = kymo_labels_begin(found->type, value);
  const char *label = found->type->mapping_count ? kymo_labels_next(&labels) : NULL;
  const char *format = found->type->is_signed ? "%" PRId64 : "%" PRIu64;
  bool is_negative = found->type->is_signed && (int64_t)value < 0;
  kymo_strbuf_puts(&wish->key, found->is_own ? "O" : "N");
  kymo_strbuf_printf(&wish->key, format, value);
  wish->number = is_negative && (int64_t)value >= INT32_MIN ? (uint32_t)value : value;
  if (label) {
    kymo_strbuf_printf(&wish->key, "=%s", label);
    kymo_strbuf_puts(&wish->name, label);
  } else if (!found->is_own) {
    kymo_strbuf_printf(&wish->name, "%s ", tracks->field);
    kymo_strbuf_printf(&wish->name, format, value);
  }
}

/* A track of CPEL without name uses its number as name, if it cannot keep the number. */
static int name_own(struct kymo_cpel_tracks *tracks, uint64_t value, uint32_t number,
                    struct kymo_error *error) {
  struct kymo_cpel_definition *track = tracks->all.list[tracks->all.count - 1];
  char text[24];
  if (track->number != number || track->format || number == value)
    return KYMO_OK;
  track->format =
      kymo_cpel_literal(&tracks->all, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
  return track->format ? KYMO_OK : no_memory(error);
}

static int track_by_number(struct kymo_cpel_tracks *tracks, const struct kymo_event *event,
                           const struct found *found, uint32_t *number, struct kymo_error *error) {
  uint64_t value = 0;
  struct wish wish = {.number = KYMO_CPEL_NO_WISH};
  int got = found->type->is_signed ? kymo_event_get_int(event, found->field, (int64_t *)&value)
                                   : kymo_event_get_uint(event, found->field, &value);
  if (got != KYMO_OK)
    return KYMO_E_ABSENT;
  struct kymo_cpel_track_late *late = &tracks->late[value % LATE];
  if (late->type == found->type && late->value == value && late->is_own == found->is_own) {
    *number = late->number;
    return KYMO_OK;
  }
  wish_number(tracks, &wish, found, value);
  int status = define(tracks, &wish, number, error);
  if (status == KYMO_OK && found->is_own)
    status = name_own(tracks, value, *number, error);
  if (status == KYMO_OK)
    *late = (struct kymo_cpel_track_late){found->type, value, *number, found->is_own};
  return status;
}

static int track_by_text(struct kymo_cpel_tracks *tracks, const struct kymo_event *event, uint32_t field,
                         uint32_t *number, struct kymo_error *error) {
  const uint8_t *bytes;
  uint64_t length;
  struct wish wish = {.number = KYMO_CPEL_NO_WISH};
  if (kymo_event_get_bytes(event, field, &bytes, &length) != KYMO_OK)
    return KYMO_E_ABSENT;
  kymo_strbuf_puts(&wish.key, "X");
  kymo_strbuf_add(&wish.key, (const char *)bytes, (size_t)length);
  kymo_strbuf_add(&wish.name, (const char *)bytes, strnlen((const char *)bytes, (size_t)length));
  return define(tracks, &wish, number, error);
}

/* KYMO_E_ABSENT: the event does not have the field. */
static int track_by_field(struct kymo_cpel_tracks *tracks, const struct kymo_event *event,
                          const struct place *place, uint32_t *number, struct kymo_error *error) {
  struct found found = {.field = place->field, .is_own = place->is_own};
  found.type = found.field == KYMO_FIELD_NONE ? NULL : kymo_event_get_type(event, found.field);
  if (!found.type)
    return KYMO_E_ABSENT;
  return is_number(found.type) ? track_by_number(tracks, event, &found, number, error)
                               : track_by_text(tracks, event, found.field, number, error);
}

/* ---- classes ---- */

/* The tracks of events from CPEL files and event logs. */
static bool has_own(const struct kymo_event_class *class_) {
  const struct kymo_member *member = kymo_type_member(class_->stream->common_context, "track");
  return member && is_number(member->type) && !kymo_type_member(class_->payload, "track");
}

static void set_class(struct kymo_cpel_tracks *tracks, struct kymo_cpel_track_class *class_,
                      const struct kymo_event *event) {
  *class_ = (struct kymo_cpel_track_class){
      .is_set = true, .wished = {.field = KYMO_FIELD_NONE}, .own = {.field = KYMO_FIELD_NONE}};
  if (has_own(event->class_))
    class_->own = (struct place){kymo_field_id(tracks->trace, event->class_, "track"), true};
  if (tracks->by == KYMO_CPEL_BY_FIELD)
    class_->wished.field = kymo_field_id(tracks->trace, event->class_, tracks->field);
}

/* Whether it has the requested thread or processor. */
static bool has_wished(const struct kymo_cpel_tracks *tracks, const struct kymo_event *event) {
  if (tracks->by != KYMO_CPEL_BY_THREAD && tracks->by != KYMO_CPEL_BY_CPU)
    return false;
  const struct kymo_who *who = kymo_who_of(tracks->whos, event);
  return who && (tracks->by == KYMO_CPEL_BY_CPU ? who->has_cpu : who->has_tid);
}

int kymo_cpel_track_of(struct kymo_cpel_tracks *tracks, const struct kymo_event *event, uint32_t *number,
                       struct kymo_error *error) {
  struct kymo_cpel_track_class *class_ = &tracks->classes[kymo_kind_of(event)];
  if (!class_->is_set)
    set_class(tracks, class_, event);
  int status = track_by_field(tracks, event, &class_->wished, number, error);
  if (status == KYMO_E_ABSENT && class_->own.field != KYMO_FIELD_NONE && !has_wished(tracks, event))
    status = track_by_field(tracks, event, &class_->own, number, error);
  return status == KYMO_E_ABSENT ? track_by_who(tracks, event, number, error) : status;
}

/* ---- life ---- */

static bool is_anywhere(const struct kymo_cpel_tracks *tracks) {
  for (size_t i = 0; i < kymo_trace_part_count(tracks->trace); i++) {
    const struct kymo_schema *schema = kymo_trace_part(tracks->trace, i)->schema;
    for (uint32_t j = 0; j < schema->stream_count; j++)
      for (uint32_t k = 0; k < schema->streams[j]->event_count; k++)
        if (kymo_field_id(tracks->trace, schema->streams[j]->events[k], tracks->field) != KYMO_FIELD_NONE)
          return true;
  }
  return false;
}

int kymo_cpel_tracks_begin(struct kymo_cpel_tracks *tracks, struct kymo_trace *trace, struct kymo_whos *whos,
                           const char *by, struct kymo_error *error) {
  *tracks = (struct kymo_cpel_tracks){.trace = trace, .whos = whos, .many_hosts = kymo_has_many_hosts(trace)};
  kymo_cpel_definitions_begin(&tracks->all, 0);
  if (by)
    tracks->by = strcmp(by, "thread") == 0 ? KYMO_CPEL_BY_THREAD
                 : strcmp(by, "cpu") == 0  ? KYMO_CPEL_BY_CPU
                                           : KYMO_CPEL_BY_FIELD;
  tracks->classes = kymo_arena_array(&tracks->arena, whos->numbers.class_count + 1u, sizeof *tracks->classes);
  tracks->late = kymo_arena_array(&tracks->arena, LATE, sizeof *tracks->late);
  tracks->field = kymo_arena_copy(&tracks->arena, by ? by : "", by ? strlen(by) : 0);
  if (!tracks->classes || !tracks->late || !tracks->field)
    return no_memory(error);
  if (tracks->by == KYMO_CPEL_BY_FIELD && !is_anywhere(tracks))
    return kymo_fail(error, KYMO_E_USAGE, "no event has a field \"%s\" to be its track", by);
  return KYMO_OK;
}

void kymo_cpel_tracks_end(struct kymo_cpel_tracks *tracks) {
  kymo_cpel_definitions_end(&tracks->all);
  kymo_arena_free(&tracks->arena);
}
