/* SPDX-License-Identifier: MIT */
#include "reader.h"
#include <kymo/time.h>
#include <stdio.h>
#include <string.h>

static int fail(struct kymo_error *error, int code, const char *message) {
  *error = (struct kymo_error){.code = code, .offset = KYMO_ERROR_NO_OFFSET};
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

static int fail_memory(struct kymo_error *error) { return fail(error, KYMO_E_MEMORY, "out of memory"); }

void opening_end(struct opening *opening) {
  for (size_t i = 0; i < opening->path_count; i++)
    free(opening->paths[i]);
  free(opening->paths);
  free(opening->filter);
  free(opening->format);
  free(opening->begin.text);
  free(opening->end.text);
  kymo_description_release(opening->description);
  *opening = (struct opening){0};
}

/* ---- losses ---- */

static void note_loss(void *user, const struct kymo_loss *loss) {
  struct reader *reader = user;
  if (reader->loss_count == reader->loss_capacity) {
    size_t capacity = 2 * reader->loss_capacity + 16;
    struct loss *larger = realloc(reader->losses, capacity * sizeof *larger);
    reader->has_missed_loss |= !larger;
    if (!larger)
      return;
    reader->losses = larger;
    reader->loss_capacity = capacity;
  }
  char *path = strdup(loss->stream->path ? loss->stream->path : "");
  reader->has_missed_loss |= !path;
  if (path)
    reader->losses[reader->loss_count++] = (struct loss){.path = path,
                                                         .is_packets = loss->is_packets,
                                                         .count_known = loss->count_known,
                                                         .has_times = loss->has_times,
                                                         .count = loss->count,
                                                         .begin_ns = loss->begin_ns,
                                                         .end_ns = loss->end_ns};
}

void reader_drop_losses(struct reader *reader) {
  while (reader->loss_count)
    free(reader->losses[--reader->loss_count].path);
}

/* ---- opening ---- */

static void note_warning(void *user, const struct kymo_error *warning) {
  struct reader *reader = user;
  char text[2048];
  char **larger = realloc(reader->warnings, (reader->warning_count + 1) * sizeof *larger);
  if (!larger)
    return;
  reader->warnings = larger;
  larger[reader->warning_count] = strdup(kymo_error_text(warning, text, sizeof text));
  reader->warning_count += larger[reader->warning_count] != NULL;
}

static int attach_filter(struct reader *reader, const char *text, struct kymo_error *error) {
  size_t count = kymo_trace_part_count(reader->trace);
  const struct kymo_schema **schemas = calloc(count + 1, sizeof *schemas);
  struct kymo_filter *filter;
  if (!schemas)
    return fail_memory(error);
  for (size_t i = 0; i < count; i++)
    schemas[i] = kymo_trace_part(reader->trace, i)->schema;
  struct kymo_filter_options options = {
      .file = "filter", .schemas = schemas, .schema_count = count, .warn = note_warning, .user = reader};
  int status = kymo_filter_compile(&filter, text, strlen(text), &options, error);
  if (status == KYMO_OK) {
    status = kymo_filter_attach(reader->trace, filter, error);
    kymo_filter_release(filter);
  }
  free(schemas);
  reader->has_filter = true;
  return status;
}

static int resolve(struct reader *reader, const struct limit *limit, int64_t *ns, struct kymo_error *error) {
  *ns = limit->ns;
  return limit->text ? kymo_trace_parse_time(reader->trace, limit->text, ns, error) : KYMO_OK;
}

static int set_window(struct reader *reader, const struct opening *opening, struct kymo_error *error) {
  int64_t begin_ns = 0, end_ns = 0;
  int status = opening->begin.is_set ? resolve(reader, &opening->begin, &begin_ns, error) : KYMO_OK;
  if (status == KYMO_OK && opening->end.is_set)
    status = resolve(reader, &opening->end, &end_ns, error);
  if (status == KYMO_OK && opening->end.is_set)
    kymo_trace_set_end_time(reader->trace, end_ns);
  if (status == KYMO_OK && opening->begin.is_set)
    status = kymo_trace_goto_time(reader->trace, begin_ns, error);
  return status < 0 ? status : KYMO_OK;
}

int reader_open(struct reader **out, const struct opening *opening, struct kymo_error *error) {
  struct reader *reader = calloc(1, sizeof *reader);
  *out = NULL;
  *error = (struct kymo_error){.offset = KYMO_ERROR_NO_OFFSET};
  if (!reader)
    return fail_memory(error);
  struct kymo_trace_options options = {.format = opening->format, .description = opening->description};
  options.all_classes = opening->filter && kymo_filter_is_over_all(opening->filter, strlen(opening->filter));
  int status = kymo_trace_open(&reader->trace, (const char *const *)opening->paths, opening->path_count,
                               &options, error);
  if (status >= 0) {
    kymo_trace_set_loss_handler(reader->trace, note_loss, reader);
    status = opening->filter ? attach_filter(reader, opening->filter, error) : KYMO_OK;
  }
  if (status >= 0)
    status = set_window(reader, opening, error);
  if (status < 0) {
    reader_close(reader);
    return status;
  }
  *out = reader;
  return KYMO_OK;
}

void reader_close(struct reader *reader) {
  if (!reader)
    return;
  reader_drop_losses(reader);
  free(reader->losses);
  while (reader->warning_count)
    free(reader->warnings[--reader->warning_count]);
  free(reader->warnings);
  map_free(&reader->who, free);
  kymo_trace_close(reader->trace);
  free(reader);
}

int reader_next(struct reader *reader, const struct kymo_event **event, struct kymo_error *error) {
  return reader->has_filter ? kymo_trace_next_filtered(reader->trace, event, error)
                            : kymo_trace_next(reader->trace, event, error);
}

/* ---- who ---- */

struct wanted {
  const char *const *names;  /* the first one that is there counts */
  bool is_text, is_specific; /* also in the event's own context */
};

static bool fits(const struct kymo_field *field, const struct wanted *wanted) {
  if (!field->type || field->is_optional)
    return false;
  enum kymo_type_kind kind = field->type->kind;
  return wanted->is_text ? kind >= KYMO_KIND_STRING && kind <= KYMO_KIND_TEXT_SEQUENCE
                         : kind == KYMO_KIND_INTEGER || kind == KYMO_KIND_VARINT;
}

static uint32_t find_in(struct reader *reader, const struct kymo_event_class *class_, enum kymo_scope scope,
                        const struct wanted *wanted) {
  const uint32_t *ids;
  size_t count;
  if (kymo_field_list(reader->trace, class_, &ids, &count) != KYMO_OK)
    return KYMO_FIELD_NONE;
  for (const char *const *name = wanted->names; *name; name++)
    for (size_t i = 0; i < count; i++) {
      struct kymo_field field;
      if (kymo_field_info(reader->trace, class_, ids[i], &field) == KYMO_OK && field.scope == scope &&
          strcmp(field.path, *name) == 0 && fits(&field, wanted))
        return ids[i];
    }
  return KYMO_FIELD_NONE;
}

static uint32_t find_who(struct reader *reader, const struct kymo_event_class *class_,
                         const struct wanted *wanted) {
  static const enum kymo_scope scopes[] = {KYMO_SCOPE_SPECIFIC_CONTEXT, KYMO_SCOPE_COMMON_CONTEXT,
                                           KYMO_SCOPE_PACKET_CONTEXT};
  for (size_t i = wanted->is_specific ? 0 : 1; i < sizeof scopes / sizeof *scopes; i++) {
    uint32_t id = find_in(reader, class_, scopes[i], wanted);
    if (id != KYMO_FIELD_NONE)
      return id;
  }
  return KYMO_FIELD_NONE;
}

static const struct who_fields *who_of_class(struct reader *reader, const struct kymo_event_class *class_) {
  static const char *const tids[] = {"tid", "vtid", NULL}, *const cpus[] = {"cpu_id", "cpu", NULL};
  static const char *const names[] = {"thread_name", "procname", "comm", NULL};
  static const char *const pids[] = {"vpid", "pid", NULL};
  struct who_fields *fields = map_get(&reader->who, class_);
  if (fields || !(fields = malloc(sizeof *fields)))
    return fields;
  fields->tid = find_who(reader, class_, &(struct wanted){.names = tids});
  fields->cpu = find_who(reader, class_, &(struct wanted){.names = cpus});
  fields->thread = find_who(reader, class_, &(struct wanted){.names = names, .is_text = true});
  fields->pid = find_who(reader, class_, &(struct wanted){.names = pids, .is_specific = true});
  if (!map_add(&reader->who, class_, fields)) {
    free(fields);
    return NULL;
  }
  return fields;
}

/* An integer of either sign as its bits. */
static bool get_bits(const struct kymo_event *event, uint32_t field, uint64_t *bits) {
  int64_t number;
  if (field == KYMO_FIELD_NONE)
    return false;
  if (kymo_event_get_int(event, field, &number) == KYMO_OK) {
    *bits = (uint64_t)number;
    return true;
  }
  return kymo_event_get_uint(event, field, bits) == KYMO_OK;
}

bool reader_who(struct reader *reader, const struct kymo_event *event, struct who *who) {
  const struct who_fields *fields = who_of_class(reader, event->class_);
  uint64_t bits = 0;
  *who = (struct who){.thread = NULL};
  if (!fields)
    return false;
  if ((who->has_tid = get_bits(event, fields->tid, &bits)))
    who->tid = (int64_t)bits;
  who->has_cpu = get_bits(event, fields->cpu, &who->cpu);
  if ((who->has_pid = get_bits(event, fields->pid, &bits)))
    who->pid = (int64_t)bits;
  if (fields->thread != KYMO_FIELD_NONE)
    kymo_event_get_string(event, fields->thread, &who->thread, &who->thread_length);
  const struct kymo_schema *schema = event->packet->stream->part->schema;
  const struct kymo_environment *entry = who->has_pid ? NULL : kymo_schema_environment(schema, "vpid");
  if (entry && !entry->text) {
    who->has_pid = true;
    who->pid = entry->integer;
  }
  return true;
}

const char *reader_process(const struct kymo_stream *stream) {
  const struct kymo_environment *entry = kymo_schema_environment(stream->part->schema, "procname");
  return entry ? entry->text : NULL;
}

uint64_t reader_stream_id(const struct kymo_stream *stream) {
  return stream->instance != UINT64_MAX ? stream->instance : stream->index;
}

bool reader_is_epoch(const struct kymo_event_class *class_) {
  return class_->stream && class_->stream->clock && class_->stream->clock->origin_is_epoch;
}

/* ---- names ---- */

static const char *name_at(const struct kymo_type *type, uint32_t index) {
  const char *name = kymo_member_name(kymo_type_member_at(type, index));
  return name ? name : "";
}

char *reader_member_key(const struct kymo_type *type, uint32_t index) {
  const char *name = name_at(type, index);
  size_t length = strlen(name), signs = 1;
  unsigned number = 1;
  if (kymo_type_member(type, name) == kymo_type_member_at(type, index))
    return strdup(name);
  for (uint32_t i = 0; i < index; i++)
    number += strcmp(name_at(type, i), name) == 0;
  if (number == 1)
    return strdup(name);
  for (uint32_t i = 0; i < type->member_count; i++) /* more signs than any name has there */
    if (strncmp(name_at(type, i), name, length) == 0) {
      size_t own = strspn(name_at(type, i) + length, "#");
      signs = own >= signs ? own + 1 : signs;
    }
  char *key = malloc(length + signs + 12);
  if (!key)
    return NULL;
  memcpy(key, name, length);
  memset(key + length, '#', signs);
  snprintf(key + length + signs, 12, "%u", number);
  return key;
}

static const char *after_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

/* The end of a text of JSON that begins at `at`. */
static const char *after_text(const char *at) {
  for (at++; *at && *at != '"'; at++)
    at += *at == '\\' && at[1];
  return at + (*at == '"');
}

/* Looks for {"kymo.hidden": true} among the members of the outermost object. */
bool reader_is_hidden(const struct kymo_type *type, uint32_t index) {
  static const char key[] = "\"kymo.hidden\"";
  const char *at = kymo_member_attributes(kymo_type_member_at(type, index));
  for (int depth = 0; at && *at;) {
    const char *end = *at == '"' ? after_text(at) : at + 1;
    if (*at == '{' || *at == '[')
      depth++;
    else if (*at == '}' || *at == ']')
      depth--;
    else if (depth == 1 && (size_t)(end - at) == sizeof key - 1 && strncmp(at, key, sizeof key - 1) == 0 &&
             *after_blanks(end) == ':')
      return strncmp(after_blanks(after_blanks(end) + 1), "true", 4) == 0;
    at = end;
  }
  return false;
}
