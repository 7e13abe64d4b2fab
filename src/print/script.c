/* SPDX-License-Identifier: MIT */
/* Scripts: compiles the layout of an event class to steps, and runs them. */
#include "print/script.h"
#include "base/likely.h"
#include "decode/decoder.h"
#include "decode/load.h"
#include "decode/value.h"

/* Limit of prepared text and steps of one class; the rest is walked. */
#define TEXT_LIMIT (64u << 10)
#define STEPS_LIMIT 1024

void kymo_script_begin(struct kymo_scripting *script, const struct kymo_script_style *style,
                       const struct kymo_names *names, struct kymo_arena *arena,
                       const struct kymo_event *event) {
  uint32_t first = event->plan->program.first_segment;
  *script = (struct kymo_scripting){.style = style,
                                    .names = names,
                                    .part = event->packet->stream->part->index,
                                    .arena = arena,
                                    .room = TEXT_LIMIT,
                                    .first_segment = first,
                                    .last_segment = first};
}

void kymo_script_names(struct kymo_scripting *script, const struct kymo_names *names, bool is_bare) {
  script->names = names;
  script->is_bare = is_bare;
}

void kymo_script_text(struct kymo_scripting *script, const char *text) {
  kymo_strbuf_puts(&script->lead, text);
}

static struct kymo_script_step *add_step(struct kymo_scripting *script, enum kymo_script_code code) {
  if (script->count == script->capacity) {
    uint32_t capacity = script->capacity ? script->capacity * 2 : 16;
    struct kymo_script_step *steps = kymo_arena_array(script->arena, capacity, sizeof(*steps));
    if (!steps) {
      script->failed = true;
      return NULL;
    }
    if (script->count)
      memcpy(steps, script->steps, script->count * sizeof(*steps));
    script->steps = steps;
    script->capacity = capacity;
  }
  struct kymo_script_step *step = &script->steps[script->count++];
  *step =
      (struct kymo_script_step){.code = (uint8_t)code, .slot = KYMO_SLOT_NONE, .is_bare = script->is_bare};
  return step;
}

/* A step after the text collected so far; long texts take steps of their own. */
static struct kymo_script_step *add(struct kymo_scripting *script, enum kymo_script_code code) {
  uint32_t length, most = KYMO_PIECE_SLACK;
  const char *lead = kymo_names_keep(script->arena, &script->lead, &length);
  struct kymo_script_step *step;
  for (; lead && length > most && (step = add_step(script, KYMO_SCRIPT_NOTHING)) != NULL;
       lead += most, length -= most) {
    step->lead = lead;
    step->lead_length = most;
  }
  step = add_step(script, code);
  if (step) {
    step->lead = lead;
    step->lead_length = length;
  }
  script->failed = script->failed || !lead;
  return step;
}

/* ---- what can be prepared ---- */

static bool is_number(enum kymo_type_kind kind) { return kind <= KYMO_KIND_FLOAT; }

static uint32_t boundary_of(const struct kymo_type *type) { return type->align_bits ? type->align_bits : 1; }

/* Subtracts the needs of a tree from *room; false if it has no fixed shape or does not fit. */
static bool is_plain(const struct kymo_scripting *script, const struct kymo_node *node, uint64_t *room) {
  const struct kymo_type *type = node->type;
  if (node->segment == KYMO_SEGMENT_NONE)
    return false;
  switch (type->kind) {
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: return is_number(type->element->kind);
  case KYMO_KIND_VARIANT:
  case KYMO_KIND_OPTIONAL:
  case KYMO_KIND_UNION: return false;
  case KYMO_KIND_STRUCT: break;
  default: return true;
  }
  const struct kymo_label *labels = kymo_names_labels(script->names, script->part, type);
  const struct kymo_node *part = kymo_node_first(node);
  for (uint32_t i = 0; i < type->member_count; i++, part += part->span) {
    if (labels[i].length + 64 > *room)
      return false;
    *room -= labels[i].length + 64;
    if (!is_plain(script, part, room))
      return false;
  }
  return true;
}

/* ---- steps ---- */

static enum kymo_script_code integer_code(const struct kymo_script_style *style,
                                          const struct kymo_type *type) {
  unsigned base = style->base(type);
  if (type->is_enumeration || type->mapping_count)
    return KYMO_SCRIPT_LABEL;
  if (type->bits_reversed || (base != 10 && base != 16) || (style->leaves_addresses && type->is_address))
    return KYMO_SCRIPT_INTEGER;
  bool is_bytes = type->align_bits >= 8 && type->size_bits % 8 == 0 &&
                  (type->order == KYMO_ORDER_LITTLE || type->size_bits == 8);
  if (base == 16)
    return is_bytes ? KYMO_SCRIPT_HEX : KYMO_SCRIPT_INTEGER;
  if (!is_bytes)
    return KYMO_SCRIPT_DECIMAL;
  return type->is_signed ? KYMO_SCRIPT_SIGNED : KYMO_SCRIPT_UNSIGNED;
}

static enum kymo_script_code code_of(const struct kymo_scripting *script, const struct kymo_type *type) {
  bool is_bytes = type->encoding <= KYMO_ENCODING_UTF8;
  switch (type->kind) {
  case KYMO_KIND_INTEGER: return integer_code(script->style, type);
  case KYMO_KIND_BOOLEAN:
  case KYMO_KIND_BITMAP: return KYMO_SCRIPT_LABEL;
  case KYMO_KIND_STRING: return is_bytes ? KYMO_SCRIPT_TEXT : KYMO_SCRIPT_VALUE;
  case KYMO_KIND_TEXT_ARRAY: return is_bytes ? KYMO_SCRIPT_TEXT_ARRAY : KYMO_SCRIPT_VALUE;
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: return KYMO_SCRIPT_ARRAY;
  default: return KYMO_SCRIPT_VALUE;
  }
}

static void add_value(struct kymo_scripting *script, const struct kymo_node *node) {
  const struct kymo_type *type = script->style->address && node->shown ? node->shown : node->type;
  enum kymo_script_code code = code_of(script, type);
  bool is_text = code == KYMO_SCRIPT_TEXT || code == KYMO_SCRIPT_TEXT_ARRAY;
  if (code == KYMO_SCRIPT_HEX || is_text)
    kymo_script_text(script, is_text ? "\"" : "0x");
  struct kymo_script_step *step = add(script, code);
  if (!step)
    return;
  step->type = type;
  step->segment = node->segment;
  step->slot = node->selector_slot;
  step->offset_bits = node->offset_bits;
  if (step->code == KYMO_SCRIPT_ARRAY) {
    uint32_t boundary = boundary_of(type->element);
    step->stride_bits = (type->element->size_bits + boundary - 1) / boundary * boundary;
    type = type->element;
  }
  /* lookahead stores no counts, so a sequence needs the location also if its place is known */
  if (node->segment < script->first_segment || node->segment > script->last_segment ||
      step->slot != KYMO_SLOT_NONE)
    script->must_locate = true;
  else if (step->code == KYMO_SCRIPT_TEXT && node->segment == script->last_segment)
    script->last_segment++;
  step->bits = (uint8_t)type->size_bits;
  step->shift = (uint8_t)(64 - step->bits);
  if (is_text)
    kymo_script_text(script, "\"");
  step->is_big = type->order == KYMO_ORDER_BIG;
  if (code == KYMO_SCRIPT_LABEL) {
    step->labels = kymo_arena_array(script->arena, 1u << KYMO_SCRIPT_LABEL_BITS, sizeof *step->labels);
    script->failed |= !step->labels;
  }
}

static void add_members(struct kymo_scripting *script, const struct kymo_node *node,
                        kymo_script_filter *leaves_out, const void *user, bool more) {
  const struct kymo_label *labels = kymo_names_labels(script->names, script->part, node->type);
  const struct kymo_node *part = kymo_node_first(node);
  for (uint32_t i = 0; i < node->type->member_count; i++, part += part->span) {
    if (labels[i].is_hidden || (leaves_out && leaves_out(user, i)))
      continue;
    kymo_strbuf_add(&script->lead, labels[i].text + !more, labels[i].length - !more);
    more = true;
    if (part->type->kind != KYMO_KIND_STRUCT) {
      add_value(script, part);
    } else if (part->type->member_count == 0) {
      kymo_script_text(script, script->style->empty);
    } else {
      kymo_script_text(script, script->style->open);
      add_members(script, part, NULL, NULL, false);
      kymo_script_text(script, script->style->close);
    }
  }
}

void kymo_script_scope(struct kymo_scripting *script, enum kymo_scope scope, const struct kymo_node *root,
                       kymo_script_filter *leaves_out, const void *user, bool more) {
  uint64_t room = script->room;
  if (!root)
    return;
  if (root->span < STEPS_LIMIT && is_plain(script, root, &room)) {
    script->room = room;
    add_members(script, root, leaves_out, user, more);
    return;
  }
  struct kymo_script_step *step = add(script, KYMO_SCRIPT_WALK);
  if (!step)
    return;
  step->scope = scope;
  step->more = more;
  step->type = root->type;
  if (scope == KYMO_SCOPE_PAYLOAD) { /* for contexts, the sink knows it during the walk */
    step->leaves_out = leaves_out;
    step->user = user;
  }
}

void kymo_script_message(struct kymo_scripting *script, const struct kymo_message *message) {
  struct kymo_script_step *step = add(script, KYMO_SCRIPT_WALK);
  if (!step)
    return;
  step->scope = KYMO_SCOPE_PAYLOAD;
  step->message = message;
}

struct kymo_script kymo_script_finish(struct kymo_scripting *script) {
  add(script, KYMO_SCRIPT_END);
  kymo_strbuf_free(&script->lead);
  return (struct kymo_script){script->failed ? NULL : script->steps, script->must_locate};
}

/* ---- printing ---- */

static inline uint64_t place(const struct kymo_script_step *step, const struct kymo_decoder *decoder) {
  return decoder->segments[step->segment] + step->offset_bits;
}

static inline uint64_t load(const struct kymo_script_step *step, const struct kymo_decoder *decoder,
                            uint64_t at) {
  return kymo_fast_bits(decoder->packet.data, at, step->bits, step->is_big);
}

static void print_value(const struct kymo_script_style *style, struct kymo_sink_state *state,
                        const struct kymo_decoder *decoder, const struct kymo_script_step *step) {
  uint64_t at = place(step, decoder), length = step->slot == KYMO_SLOT_NONE ? 0 : decoder->slots[step->slot];
  struct kymo_value value = {0};
  enum kymo_token token =
      kymo_value_read(step->type, decoder->packet.data, &at, decoder->packet.content_bits, length, &value);
  if (token != KYMO_TOKEN_ERROR)
    style->scalar(state, decoder->stream.part->index, token, &value);
}

static void print_integer(const struct kymo_script_style *style, struct kymo_sink_state *state,
                          const struct kymo_decoder *decoder, const struct kymo_script_step *step) {
  struct kymo_value value = {.type = step->type};
  value.u = load(step, decoder, place(step, decoder));
  if (KYMO_UNLIKELY(step->type->bits_reversed))
    value.u = kymo_bits_reverse(value.u, step->bits);
  if (step->type->is_signed)
    value.i = kymo_sign_extend(value.u, step->bits);
  style->integer(state, decoder->stream.part->index, &value);
}

/* The bytes of an array of numbers of one or two bytes each, in network order; 0: too many, or absent. */
static unsigned read_address(const struct kymo_decoder *decoder, const struct kymo_type *element, uint64_t at,
                             uint64_t stride, uint64_t count, uint8_t bytes[KYMO_ADDRESS_BYTES]) {
  unsigned size = element->size_bits / 8;
  for (uint64_t i = 0; i < count && count <= KYMO_ADDRESS_BYTES / size; i++) {
    uint64_t place = at + i * stride;
    struct kymo_value value = {0};
    if (kymo_value_read(element, decoder->packet.data, &place, decoder->packet.content_bits, 0, &value) ==
        KYMO_TOKEN_ERROR)
      return 0;
    kymo_script_add_address(bytes, (unsigned)i, size, value.u);
  }
  return count <= KYMO_ADDRESS_BYTES / size ? (unsigned)count * size : 0;
}

static void print_array(const struct kymo_script_style *style, struct kymo_sink_state *state,
                        struct kymo_out *out, const struct kymo_decoder *decoder,
                        const struct kymo_script_step *step) {
  uint64_t begin = place(step, decoder);
  uint64_t count = step->slot == KYMO_SLOT_NONE ? step->type->length : decoder->slots[step->slot];
  uint8_t bytes[KYMO_ADDRESS_BYTES];
  unsigned size = step->type->is_address && style->address
                      ? read_address(decoder, step->type->element, begin, step->stride_bits, count, bytes)
                      : 0;
  if (size == 4 || size == KYMO_ADDRESS_BYTES) {
    style->address(out, bytes, size);
    return;
  }
  kymo_out_bytes(out, style->array_open, strlen(style->array_open));
  for (uint64_t i = 0; i < count; i++) {
    uint64_t at = begin + i * step->stride_bits;
    struct kymo_value value = {0};
    enum kymo_token token = kymo_value_read(step->type->element, decoder->packet.data, &at,
                                            decoder->packet.content_bits, 0, &value);
    if (token == KYMO_TOKEN_ERROR)
      break;
    style->element(out, i, step->is_bare);
    style->scalar(state, decoder->stream.part->index, token, &value);
  }
  kymo_out_bytes(out, style->array_close, strlen(style->array_close));
}

static inline struct kymo_script_label *label_of(const struct kymo_script_step *step, uint64_t value) {
  return &step->labels[value * UINT64_C(0x9E3779B97F4A7C15) >> (64 - KYMO_SCRIPT_LABEL_BITS)];
}

/* A value with labels. Its text is kept, since few values are frequent. */
static void print_label(const struct kymo_script_style *style, struct kymo_sink_state *state,
                        struct kymo_out *out, const struct kymo_decoder *decoder,
                        const struct kymo_script_step *step) {
  uint64_t value = load(step, decoder, place(step, decoder)), flushes = out->flushes;
  struct kymo_script_label *label = label_of(step, value);
  const char *begin = out->at;
  print_integer(style, state, decoder, step);
  size_t length = out->flushes == flushes ? (size_t)(out->at - begin) : 0;
  if (length == 0 || length > sizeof label->text)
    return;
  label->value = value;
  label->length = (uint32_t)length;
  memcpy(label->text, begin, length);
}

/* Values that the loop itself does not print. */
static __attribute__((noinline)) void print_step(const struct kymo_script_style *style,
                                                 struct kymo_sink_state *state, struct kymo_out *out,
                                                 const struct kymo_event *event,
                                                 const struct kymo_script_step *step) {
  const struct kymo_decoder *decoder = kymo_decoder_of(event);
  switch ((enum kymo_script_code)step->code) {
  case KYMO_SCRIPT_DECIMAL: {
    uint64_t value = load(step, decoder, place(step, decoder));
    char *at = kymo_out_room(out, 32);
    out->at = step->type->is_signed ? kymo_put_i64(at, kymo_sign_extend(value, step->bits))
                                    : kymo_put_u64(at, value);
    break;
  }
  case KYMO_SCRIPT_INTEGER: print_integer(style, state, decoder, step); break;
  case KYMO_SCRIPT_LABEL: print_label(style, state, out, decoder, step); break;
  case KYMO_SCRIPT_ARRAY: print_array(style, state, out, decoder, step); break;
  case KYMO_SCRIPT_WALK: style->walk(state, event, step); break;
  default: print_value(style, state, decoder, step); break;
  }
}

/* A step writes at most a short lead and a number or a label before it checks the space again. */
#define STEP_ROOM (KYMO_PIECE_SLACK + 32)

/* A value with labels as it was printed before; NULL: it was not. */
static inline char *put_label(char *at, const struct kymo_script_step *step, uint64_t value) {
  const struct kymo_script_label *label = label_of(step, value);
  if (KYMO_UNLIKELY(!label->length) || KYMO_UNLIKELY(label->value != value))
    return NULL;
  memcpy(at, label->text, sizeof label->text);
  return at + label->length;
}

/* A text of at most `most` bytes up to its zero; *end is the end of its bytes. All packets have space for 16
 * bytes after them. */
static inline char *put_text(const struct kymo_script_style *style, struct kymo_out *out, char *at,
                             const uint8_t *from, uint64_t most, const uint8_t **end) {
  for (;;) {
    unsigned plain = kymo_copy_plain(at, from, &style->specials);
    if (KYMO_UNLIKELY(plain >= most)) {
      *end = from + most;
      return at + most;
    }
    at += plain;
    from += plain;
    most -= plain;
    if (KYMO_LIKELY(plain < 16) && KYMO_LIKELY(*from == 0))
      break;
    if (KYMO_LIKELY(plain == 16) && KYMO_LIKELY((size_t)(out->end - at) >= STEP_ROOM))
      continue;
    const uint8_t *zero =
        most > SIZE_MAX / 2 ? from + strlen((const char *)from) : memchr(from, 0, (size_t)most);
    size_t size = zero ? (size_t)(zero - from) : (size_t)most;
    out->at = at;
    style->characters(out, from, size);
    from += size;
    at = kymo_out_room(out, STEP_ROOM);
    break;
  }
  *end = from;
  return at;
}

void kymo_script_print(const struct kymo_script_style *style, struct kymo_sink_state *state,
                       struct kymo_out *out, const struct kymo_event *event,
                       const struct kymo_script *script) {
  struct kymo_decoder *decoder = kymo_decoder_of(event);
  const struct kymo_script_step *step = script->steps;
  if (script->must_locate)
    kymo_located(event);
  else
    decoder->segments[event->plan->program.first_segment] = kymo_body_bits(event);
  const uint8_t *data = decoder->packet.data, *end;
  char *labelled;
  uint64_t *segments = decoder->segments;
  char *at = out->at, *last = out->end - STEP_ROOM;
  for (;; step++) {
    if (KYMO_UNLIKELY(at > last)) {
      out->at = at;
      at = kymo_out_room(out, STEP_ROOM);
    }
    memcpy(at, step->lead, KYMO_PIECE_SLACK);
    at += step->lead_length;
    if (step->code == KYMO_SCRIPT_END)
      break;
    const uint8_t *from = data + (segments[step->segment] + step->offset_bits) / 8;
    switch ((enum kymo_script_code)step->code) {
    case KYMO_SCRIPT_NOTHING: break;
    case KYMO_SCRIPT_UNSIGNED:
      at = kymo_put_u64(at, kymo_load_le64(from) << step->shift >> step->shift);
      break;
    case KYMO_SCRIPT_SIGNED:
      at = kymo_put_i64(at, (int64_t)(kymo_load_le64(from) << step->shift) >> step->shift);
      break;
    case KYMO_SCRIPT_HEX:
      at = kymo_put_hex(at, kymo_load_le64(from) << step->shift >> step->shift, style->is_upper);
      break;
    case KYMO_SCRIPT_TEXT:
      at = put_text(style, out, at, from, UINT64_MAX, &end);
      segments[step->segment + 1] = (uint64_t)(end + 1 - data) * 8;
      break;
    case KYMO_SCRIPT_TEXT_ARRAY: at = put_text(style, out, at, from, step->type->length, &end); break;
    case KYMO_SCRIPT_LABEL:
      labelled = put_label(at, step, load(step, decoder, place(step, decoder)));
      if (KYMO_LIKELY(labelled)) {
        at = labelled;
        break;
      } /* fall through */
    default:
      out->at = at;
      print_step(style, state, out, event, step);
      at = out->at;
    }
  }
  out->at = at;
}
