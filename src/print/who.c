/* SPDX-License-Identifier: MIT */
/* Who wrote an event. */
#include "print/who.h"
#include "base/fail.h"
#include "base/likely.h"
#include "decode/load.h"
#include "decode/value.h"

static bool is_text(enum kymo_type_kind kind) {
  return kind >= KYMO_KIND_STRING && kind <= KYMO_KIND_TEXT_SEQUENCE;
}

/* The first of `names` that the scope has as an integer (a text), at a known place. */
static const struct kymo_node *find(const struct kymo_node *root, const char *const *names, bool text,
                                    uint32_t *index) {
  *index = UINT32_MAX;
  for (; root && *names; names++) {
    const struct kymo_node *part = kymo_node_first(root);
    for (uint32_t i = 0; i < root->type->member_count; i++, part += part->span) {
      enum kymo_type_kind kind = part->type->kind;
      if (part->segment == KYMO_SEGMENT_NONE || strcmp(root->type->members[i].name, *names) != 0)
        continue;
      if (text ? !is_text(kind) : kind != KYMO_KIND_INTEGER && kind != KYMO_KIND_VARINT)
        continue;
      *index = i;
      return part;
    }
  }
  return NULL;
}

static struct kymo_who_places find_places(const struct kymo_node *root) {
  static const char *const tids[] = {"tid", "vtid", NULL}, *const cpus[] = {"cpu_id", "cpu", NULL};
  static const char *const texts[] = {"thread_name", "procname", "comm", NULL};
  struct kymo_who_places places;
  places.tid = find(root, tids, false, &places.tid_index);
  places.name = find(root, texts, true, &places.name_index);
  places.cpu = find(root, cpus, false, &places.cpu_index);
  return places;
}

/* The place of a node's value. Fields before the first text or sequence are at a constant distance from the
 * event header, which is the usual case here. */
static uint64_t place_of(const struct kymo_event *event, const struct kymo_node *node) {
  if (node->segment == event->plan->program.first_segment)
    return kymo_body_bits(event) + node->offset_bits;
  return kymo_located(event)->segments[node->segment] + node->offset_bits;
}

static uint64_t read_integer(const struct kymo_event *event, const struct kymo_node *node) {
  const struct kymo_packet *packet = event->packet;
  const struct kymo_type *type = node->type;
  uint64_t at = place_of(event, node);
  if (KYMO_LIKELY(type->kind == KYMO_KIND_INTEGER) && KYMO_LIKELY(!type->bits_reversed)) {
    uint64_t bits = kymo_fast_bits(packet->data, at, type->size_bits, type->order == KYMO_ORDER_BIG);
    return type->is_signed ? (uint64_t)kymo_sign_extend(bits, type->size_bits) : bits;
  }
  struct kymo_value value = {0};
  kymo_value_read(type, packet->data, &at, packet->content_bits, 0, &value);
  return value.u;
}

static void read_name(struct kymo_who *who, const struct kymo_event *event, const struct kymo_node *node) {
  const struct kymo_packet *packet = event->packet;
  const struct kymo_type *type = node->type;
  uint64_t at = place_of(event, node), length = 0;
  const uint8_t *from = packet->data + at / 8;
  if (type->kind == KYMO_KIND_TEXT_ARRAY && type->encoding <= KYMO_ENCODING_UTF8) {
    length = type->length < KYMO_WHO_NAME ? type->length : KYMO_WHO_NAME;
    const uint8_t *zero = length ? memchr(from, 0, (size_t)length) : from;
    length = zero ? (uint64_t)(zero - from) : length;
  } else {
    struct kymo_value value = {0};
    uint64_t size =
        node->selector_slot != KYMO_SLOT_NONE ? kymo_located(event)->slots[node->selector_slot] : 0;
    if (kymo_value_read(type, packet->data, &at, packet->content_bits, size, &value) == KYMO_TOKEN_ERROR)
      return;
    from = value.bytes;
    length = value.count < KYMO_WHO_NAME ? value.count : KYMO_WHO_NAME;
  }
  who->name_length = (uint32_t)length;
  memcpy(who->name, from, (size_t)length);
}

static void read_places(struct kymo_who *who, const struct kymo_event *event,
                        const struct kymo_who_places *places) {
  if (places->tid) {
    who->has_tid = true;
    who->tid = (int64_t)read_integer(event, places->tid);
  }
  if (places->cpu) {
    who->has_cpu = true;
    who->cpu = read_integer(event, places->cpu);
  }
  if (places->name)
    read_name(who, event, places->name);
}

/* Extends the span to a node's bytes; false if these are not constant, or too many, or if it shares them. */
static bool widen(struct kymo_who_class *class_, uint32_t first_segment, const struct kymo_node *node) {
  if (!node)
    return true;
  uint64_t begin = node->offset_bits / 8, end = (node->offset_bits + node->type->size_bits + 7) / 8;
  bool is_constant = node->type->kind == KYMO_KIND_TEXT_ARRAY ||
                     (node->type->kind == KYMO_KIND_INTEGER && node->type->align_bits >= 8);
  is_constant &= node->offset_bits % 8 == 0;
  if (!is_constant || node->segment != first_segment || end > UINT16_MAX)
    return false;
  uint64_t old_end = class_->span_begin + class_->span_size;
  if (class_->span_size == 0 || begin < class_->span_begin)
    class_->span_begin = (uint32_t)begin;
  if (end < old_end)
    end = old_end;
  class_->span_size = (uint32_t)end - class_->span_begin;
  return class_->span_size <= KYMO_WHO_SPAN;
}

static struct kymo_who_field field_of(const struct kymo_node *node) {
  struct kymo_who_field field = {0};
  if (!node)
    return field;
  const struct kymo_type *type = node->type;
  field.at = (uint32_t)(node->offset_bits / 8);
  if (type->kind == KYMO_KIND_TEXT_ARRAY)
    field.most = type->length < KYMO_WHO_NAME ? (uint8_t)type->length : KYMO_WHO_NAME;
  else
    field.bits = (uint8_t)type->size_bits;
  field.is_signed = type->is_signed;
  field.is_big = type->order == KYMO_ORDER_BIG;
  return field;
}

/* What is read without looking at types: no number with reversed bits, no name of wide characters. */
static bool set_fields(struct kymo_who_class *class_) {
  const struct kymo_who_places *common = &class_->common;
  class_->tid = field_of(common->tid);
  class_->cpu = field_of(common->cpu);
  class_->name = field_of(common->name);
  return !(common->tid && common->tid->type->bits_reversed) &&
         !(common->cpu && common->cpu->type->bits_reversed) &&
         !(common->name && common->name->type->encoding > KYMO_ENCODING_UTF8);
}

static void set_class(struct kymo_who_class *class_, const struct kymo_event *event) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  uint32_t first = event->plan->program.first_segment;
  class_->packet = find_places(decoder->plan->packet_context);
  class_->common = find_places(decoder->plan->common_context);
  class_->common_says = class_->common.tid || class_->common.name || class_->common.cpu;
  if (!widen(class_, first, class_->common.tid) || !widen(class_, first, class_->common.cpu) ||
      !widen(class_, first, class_->common.name) || !set_fields(class_))
    class_->span_size = 0;
  class_->is_set = true;
}

static const struct kymo_who_class *class_of(struct kymo_whos *whos, const struct kymo_event *event) {
  struct kymo_who_class *class_ =
      &whos->classes[event->packet->stream->part->index][event->class_->stream->index];
  if (KYMO_UNLIKELY(!class_->is_set))
    set_class(class_, event);
  return class_;
}

/* ---- slots ---- */

/* The lowest byte of a number. */
static uint32_t chooser(const struct kymo_who_field *field) {
  return field->bits < 8 ? 0 : field->at + (field->is_big ? field->bits / 8u - 1 : 0);
}

/* Where the words are that name the writer, and the bytes that choose its slot: threads of neighbouring
 * numbers, on some processors. */
static void set_span(struct kymo_who_stream *stream, const struct kymo_event *event,
                     const struct kymo_who_class *class_) {
  bool is_constant = class_->span_size || !class_->common_says;
  bool has_choice = class_->span_size && class_->tid.bits >= 8;
  stream->class_ = is_constant ? event->class_->stream : NULL;
  stream->span_begin = class_->span_size ? class_->span_begin : 0;
  stream->span_words = class_->span_size ? (class_->span_size + 7) / 8 : 1;
  stream->last_mask = class_->span_size ? UINT64_MAX >> (-class_->span_size % 8 * 8) : 0;
  stream->choosers[0] = has_choice ? chooser(&class_->tid) : 0;
  stream->choosers[1] = has_choice ? chooser(&class_->cpu) : 0;
  stream->choice = has_choice && class_->cpu.bits >= 8 ? 8 : 0;
  stream->slot_mask = has_choice ? KYMO_WHO_SLOTS - 1 : 0;
}

static uint64_t read_field(const uint8_t *body, const struct kymo_who_field *field) {
  uint64_t bits = kymo_fast_bits(body, 8 * (uint64_t)field->at, field->bits, field->is_big);
  return field->is_signed ? (uint64_t)kymo_sign_extend(bits, field->bits) : bits;
}

/* The same as read_places, of fields at constant places. */
static void read_fields(struct kymo_who *who, const uint8_t *body, const struct kymo_who_class *class_) {
  if (class_->tid.bits) {
    who->has_tid = true;
    who->tid = (int64_t)read_field(body, &class_->tid);
  }
  if (class_->cpu.bits) {
    who->has_cpu = true;
    who->cpu = read_field(body, &class_->cpu);
  }
  if (class_->name.most) {
    const char *name = (const char *)body + class_->name.at;
    who->name_length = (uint32_t)strnlen(name, class_->name.most);
    memcpy(who->name, name, who->name_length);
  }
}

static void read_slot(struct kymo_who_stream *stream, struct kymo_who_slot *slot,
                      const struct kymo_event *event, const struct kymo_who_class *class_) {
  const uint8_t *body = event->packet->data + kymo_body_bits(event) / 8;
  slot->who = stream->of_packet;
  slot->who.slot = (uint16_t)(slot - stream->slots);
  slot->who.slots = (uint16_t)(stream->slot_mask + 1);
  if (class_->common_says && class_->span_size)
    read_fields(&slot->who, body, class_);
  else if (class_->common_says)
    read_places(&slot->who, event, &class_->common);
  for (uint32_t i = 0; i < stream->span_words; i++)
    slot->span[i] = kymo_load_le64(body + stream->span_begin + (size_t)8 * i);
}

/* Of another packet, or class of streams: the slots are valid while the packet says nothing else. False: out
 * of memory. */
static bool enter_packet(struct kymo_arena *arena, struct kymo_who_stream *stream,
                         const struct kymo_event *event, const struct kymo_who_class *class_) {
  struct kymo_who of_packet;
  memset(&of_packet, 0, sizeof of_packet);
  read_places(&of_packet, event, &class_->packet);
  stream->packet = kymo_packet_key_of(event->packet);
  if (stream->entered == event->class_->stream && !memcmp(&of_packet, &stream->of_packet, sizeof of_packet))
    return true;
  uint32_t old_mask = stream->slot_mask;
  set_span(stream, event, class_);
  memcpy(&stream->of_packet, &of_packet, sizeof of_packet);
  if (!stream->slots || stream->slot_mask > old_mask)
    stream->slots = kymo_arena_array(arena, stream->slot_mask + 1u, sizeof *stream->slots);
  for (size_t i = 0; stream->slots && i <= stream->slot_mask; i++)
    stream->slots[i].who.version = 0;
  stream->entered = stream->slots ? event->class_->stream : NULL;
  stream->class_ = stream->slots ? stream->class_ : NULL;
  return stream->slots != NULL;
}

const struct kymo_who *kymo_who_read(struct kymo_whos *whos, const struct kymo_event *event) {
  const struct kymo_who_class *class_ = class_of(whos, event);
  struct kymo_who_stream **place = &whos->streams[event->packet->stream->number];
  if (!*place)
    *place = kymo_arena_alloc(&whos->arena, sizeof **place);
  struct kymo_who_stream *stream = *place;
  if (!stream)
    return NULL;
  bool is_entered =
      stream->entered == event->class_->stream && kymo_packet_key_is(&stream->packet, event->packet);
  if (!is_entered && !enter_packet(&whos->arena, stream, event, class_))
    return NULL;
  struct kymo_who_slot *slot = kymo_who_slot_of(stream, event->packet->data + kymo_body_bits(event) / 8);
  read_slot(stream, slot, event, class_);
  slot->who.version = ++whos->version;
  return &slot->who;
}

const struct kymo_who_places *kymo_who_common(struct kymo_whos *whos, const struct kymo_event *event) {
  return &class_of(whos, event)->common;
}

int kymo_whos_begin(struct kymo_whos *whos, const struct kymo_trace *trace, struct kymo_error *error) {
  *whos = (struct kymo_whos){0};
  int status = kymo_numbers_begin(&whos->numbers, trace, error);
  if (status < 0)
    return status;
  size_t count = kymo_trace_part_count(trace);
  whos->streams =
      kymo_arena_array(&whos->arena, (size_t)whos->numbers.stream_count + 1, sizeof(*whos->streams));
  whos->classes = kymo_arena_array(&whos->arena, count + 1, sizeof(*whos->classes));
  bool ok = whos->streams && whos->classes;
  for (size_t i = 0; ok && i < count; i++) {
    uint32_t streams = kymo_trace_part(trace, i)->schema->stream_count;
    whos->classes[i] = kymo_arena_array(&whos->arena, (size_t)streams + 1, sizeof(**whos->classes));
    ok = whos->classes[i] != NULL;
  }
  return ok ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

void kymo_whos_end(struct kymo_whos *whos) {
  kymo_numbers_end(&whos->numbers);
  kymo_arena_free(&whos->arena);
}

/* ---- processes ---- */

bool kymo_who_process(struct kymo_trace *trace, const struct kymo_event *event, int64_t *process) {
  static const char *const names[] = {"vpid", "pid"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    uint32_t field = kymo_field_id(trace, event->class_, names[i]);
    struct kymo_field info;
    if (field != KYMO_FIELD_NONE && kymo_field_info(trace, event->class_, field, &info) == KYMO_OK &&
        info.scope != KYMO_SCOPE_PAYLOAD && kymo_event_get_int(event, field, process) == KYMO_OK)
      return true;
  }
  return false;
}

/* ---- hosts ---- */

const char *kymo_host_of(const struct kymo_part *part) {
  const struct kymo_environment *host = kymo_schema_environment(part->schema, "hostname");
  return host ? host->text : NULL;
}

bool kymo_has_many_hosts(const struct kymo_trace *trace) {
  const char *first = NULL;
  for (size_t i = 0; i < kymo_trace_part_count(trace); i++) {
    const char *host = kymo_host_of(kymo_trace_part(trace, i));
    if (host && first && strcmp(host, first) != 0)
      return true;
    first = first ? first : host;
  }
  return false;
}
