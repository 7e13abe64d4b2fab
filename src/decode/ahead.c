/* SPDX-License-Identifier: MIT */
/*
 * Lookahead: finds as many events of the packet as fit the buffer, in a loop that keeps all state in
 * registers. The loop is compiled several times: for the headers of most traces with all their numbers
 * constant, and for any other. Times are computed after it.
 */
#include "decode/ahead.h"
#include "base/search.h"
#include "decode/step.h"

/* ---- headers ---- */

/* The fields of an event header. */
struct seen {
  uint64_t id, time, time_mask, size_bits;
  bool has_id;
};

static bool read_any_header(const struct kymo_header *header, const uint8_t *bytes, struct seen *seen) {
  const struct kymo_header_case *shape = header->cases;
  if (header->has_tag) {
    uint64_t tag = kymo_load(bytes, &header->tag);
    const struct kymo_header_case *end = shape + header->case_count;
    while (tag - shape->low > shape->high - shape->low)
      if (KYMO_UNLIKELY(++shape == end))
        return false;
  }
  *seen = (struct seen){.time_mask = shape->has_time ? shape->time.mask : 0,
                        .size_bits = shape->size_bits,
                        .has_id = shape->has_id};
  if (shape->has_id)
    seen->id = kymo_load(bytes, &shape->id);
  if (shape->has_time)
    seen->time = kymo_load(bytes, &shape->time);
  return true;
}

/* A header whose usual case is one little-endian word. */
struct word_shape {
  bool is_word;    /* else: any header */
  bool is_tag;     /* tags 0 … tag_high select the case, and the tag is the id */
  bool is_aligned; /* events end where headers may begin */
  uint64_t tag_high, id_mask, time_mask, size_bits;
  unsigned id_shift, time_shift;
};

#define SHAPE_COMPACT /* LTTng: 5 bits id, 27 bits time */ \
  ((struct word_shape){true, true, true, 30, 31, (UINT64_C(1) << 27) - 1, 32, 0, 5})
#define SHAPE_LARGE /* LTTng: 16 bits id, 32 bits time */ \
  ((struct word_shape){true, true, true, 65534, 65535, UINT32_MAX, 48, 0, 16})
#define SHAPE_PACKED /* 16 bits id, 48 bits time */ \
  ((struct word_shape){true, false, false, 0, 65535, (UINT64_C(1) << 48) - 1, 64, 0, 16})

static bool is_shape(const struct kymo_stream_plan *plan, struct word_shape wanted) {
  const struct kymo_header *header = &plan->header;
  const struct kymo_header_case *usual = header->cases;
  return header->is_word && header->has_tag == wanted.is_tag && (plan->is_aligned || !wanted.is_aligned) &&
         usual->id.shift == wanted.id_shift && usual->id.mask == wanted.id_mask &&
         usual->time.shift == wanted.time_shift && usual->time.mask == wanted.time_mask &&
         usual->size_bits == wanted.size_bits &&
         (!wanted.is_tag || (header->tag.shift == wanted.id_shift && header->tag.mask == wanted.id_mask &&
                             usual->low == 0 && usual->high == wanted.tag_high));
}

/* ---- loops ---- */

/* The number of a plan among those of its stream class. */
static inline uint32_t index_of(const struct kymo_stream_plan *plan, const struct kymo_event_plan *event) {
  return (uint32_t)(event - plan->events);
}

/* The place of an event is known only after the event before it, so the processor does not load far ahead by
 * itself: data this many bytes after the current event is prefetched. (Prefetching beyond the packet does
 * nothing.) */
#define DATA_AHEAD 512

/* Finds events from `count` on, until one needs the slow step. Returns the new count. */
static inline __attribute__((always_inline)) uint32_t find(struct kymo_decoder *decoder, uint32_t count,
                                                           const struct word_shape shape, bool is_constant) {
  const struct kymo_stream_plan *plan = decoder->plan;
  const struct kymo_sight sight = {decoder->packet.data, decoder->packet.content_bits, decoder->slots};
  const struct kymo_lead *leads = plan->by_id;
  struct kymo_found *found = decoder->found + count, *full = decoder->found + decoder->event_capacity;
  uint64_t next = decoder->next_bits, clock = decoder->clock, boundary = plan->header_align - 1;
  bool has_clock = decoder->ns.clock;
  for (; found < full; found++) {
    uint64_t begin = shape.is_aligned ? next : (next + boundary) & ~boundary;
    if (KYMO_UNLIKELY(begin >= sight.end))
      break;
    const uint8_t *bytes = sight.data + begin / 8;
    uint64_t word = shape.is_word ? kymo_load_le64(bytes) : 0;
    __builtin_prefetch(bytes + DATA_AHEAD);
    struct seen seen = {word >> shape.id_shift & shape.id_mask, word >> shape.time_shift, shape.time_mask,
                        shape.size_bits, true};
    if (!shape.is_word || (shape.is_tag && KYMO_UNLIKELY(seen.id > shape.tag_high))) {
      struct seen other; /* the usual one stays in registers, since its address is not taken */
      if (!read_any_header(&plan->header, bytes, &other))
        break;
      seen = other;
    }
    if (KYMO_UNLIKELY(seen.has_id && seen.id >= plan->id_count))
      break;
    const struct kymo_lead *lead = seen.has_id ? &leads[seen.id] : &plan->only_lead;
    uint64_t body = begin + seen.size_bits, after = body + lead->offset_bits;
    if (KYMO_UNLIKELY(after > sight.end))
      break;
    /* the one branch that depends on the class: most have a constant size, and the next event's place is then
     * known earlier than with the loads of the others */
    if (!is_constant && lead->varies &&
        KYMO_UNLIKELY((after = kymo_lead_end(lead, &sight, after)) > sight.end))
      break;
    clock += (seen.time - clock) & seen.time_mask;
    found->cycles = clock;
    found->offset_bits = begin;
    found->header_bits = (uint32_t)seen.size_bits;
    found->index = index_of(plan, lead->plan) & KYMO_FOUND_INDEX;
    found->has_time = has_clock;
    found->is_damaged = false;
    next = after;
  }
  decoder->next_bits = next;
  decoder->clock = clock;
  return (uint32_t)(found - decoder->found);
}

/* The same for events of one size: none has to wait for the size of the previous one. */
static uint32_t find_array(struct kymo_decoder *decoder, uint32_t count) {
  const struct kymo_stream_plan *plan = decoder->plan;
  const struct kymo_header_case *shape = plan->header.cases;
  uint64_t stride = plan->stride_bits, size = shape->size_bits + plan->events[0].size_bits;
  uint64_t begin = kymo_round_up(decoder->next_bits, plan->header_align), end = decoder->packet.content_bits;
  uint64_t clock = decoder->clock, room = decoder->event_capacity - count;
  uint64_t fit = begin + size <= end ? (end - begin - size) / stride + 1 : 0;
  const uint8_t *bytes = decoder->packet.data + begin / 8;
  struct kymo_found *found = decoder->found + count, *first = found,
                    *full = found + (fit < room ? fit : room);
  bool has_clock = decoder->ns.clock;
  for (; found < full; found++, begin += stride, bytes += stride / 8) {
    uint64_t word = kymo_load_le64(bytes), id = word >> shape->id.shift & shape->id.mask;
    if (KYMO_UNLIKELY(id >= plan->id_count) || KYMO_UNLIKELY(!plan->by_id[id].plan))
      break;
    clock += ((word >> shape->time.shift) - clock) & shape->time.mask;
    found->cycles = clock;
    found->offset_bits = begin;
    found->header_bits = (uint32_t)shape->size_bits;
    found->index = index_of(plan, plan->by_id[id].plan) & KYMO_FOUND_INDEX;
    found->has_time = has_clock;
    found->is_damaged = false;
  }
  decoder->next_bits = found > first ? begin - stride + size : decoder->next_bits;
  decoder->clock = clock;
  return (uint32_t)(found - decoder->found);
}

/* The first event offset at or after next_bits: the next one, unless the decoder was moved. */
static const struct kymo_event_offset *next_event_offset(const struct kymo_decoder *decoder) {
  const struct kymo_event_offset *event_offsets = decoder->event_offsets;
  uint32_t count = decoder->offset_count, next = decoder->offset_next;
  if (next < count && (uint64_t)event_offsets[next].at * 8 == decoder->next_bits)
    return &event_offsets[next];
  return &event_offsets[KYMO_COUNT_BEFORE(count, i, (uint64_t)event_offsets[i].at * 8 < decoder->next_bits)];
}

/* The same if the format supplies the offset of each event. */
static uint32_t find_given(struct kymo_decoder *decoder, uint32_t count) {
  const struct kymo_stream_plan *plan = decoder->plan;
  const struct kymo_event_offset *event_offset = next_event_offset(decoder),
                                 *end = decoder->event_offsets + decoder->offset_count;
  struct kymo_found *found = decoder->found + count, *full = decoder->found + decoder->event_capacity;
  bool has_clock = decoder->ns.clock;
  for (; found < full && event_offset < end; found++, event_offset++) {
    found->cycles = event_offset->cycles;
    found->offset_bits = (uint64_t)event_offset->at * 8;
    found->header_bits = (uint32_t)plan->header.cases[0].size_bits;
    found->index = event_offset->class_index & KYMO_FOUND_INDEX;
    found->has_time = has_clock && !event_offset->is_untimed;
    found->is_damaged = false;
  }
  decoder->offset_next = (uint32_t)(event_offset - decoder->event_offsets);
  decoder->next_bits = event_offset < end ? (uint64_t)event_offset->at * 8 : decoder->packet.content_bits;
  if (event_offset > decoder->event_offsets)
    decoder->clock = event_offset[-1].cycles;
  return (uint32_t)(found - decoder->found);
}

#define FINDERS(name, shape)                                                           \
  static uint32_t find_##name(struct kymo_decoder *decoder, uint32_t count) {          \
    return find(decoder, count, shape, false);                                         \
  }                                                                                    \
  static uint32_t find_constant_##name(struct kymo_decoder *decoder, uint32_t count) { \
    return find(decoder, count, shape, true);                                          \
  }
FINDERS(compact, SHAPE_COMPACT)
FINDERS(large, SHAPE_LARGE)
FINDERS(packed, SHAPE_PACKED)
FINDERS(any, ((struct word_shape){.is_word = false}))

kymo_finder *kymo_choose_finder(const struct kymo_stream_plan *plan) {
  if (!plan->has_fast_header)
    return NULL;
  if (plan->stride_bits)
    return find_array;
  if (is_shape(plan, SHAPE_COMPACT))
    return plan->is_constant ? find_constant_compact : find_compact;
  if (is_shape(plan, SHAPE_LARGE))
    return plan->is_constant ? find_constant_large : find_large;
  if (is_shape(plan, SHAPE_PACKED))
    return plan->is_constant ? find_constant_packed : find_packed;
  return plan->is_constant ? find_constant_any : find_any;
}

/* ---- times ---- */

static void find_times(struct kymo_decoder *decoder) {
  struct kymo_found *found = decoder->found, *end = found + decoder->event_count;
  struct kymo_ns *ns = &decoder->ns;
  ns->is_beyond = false;
  if (!ns->clock) {
    for (; found < end; found++)
      found->time_ns = INT64_MIN;
  } else if (ns->frequency == 1000000000) {
    for (; found < end; found++) {
      uint64_t distance = found->cycles - ns->anchor_cycles;
      found->time_ns = KYMO_LIKELY(distance < ns->reach) ? ns->anchor_ns + (int64_t)distance
                                                         : kymo_ns_anchor(ns, found->cycles);
    }
  } else {
    for (; found < end; found++)
      found->time_ns = kymo_ns_of(ns, found->cycles);
  }
}

/* Headers contain which events have no time. */
static void find_untimed(struct kymo_decoder *decoder) {
  const struct kymo_stream_plan *plan = decoder->plan;
  const struct kymo_type *type = plan->timed;
  for (struct kymo_found *found = decoder->found, *end = found + decoder->event_count; found < end; found++)
    found->has_time = kymo_fast_bits(decoder->packet.data, found->offset_bits + plan->timed_bits,
                                     type->size_bits, type->order == KYMO_ORDER_BIG) != 0;
}

enum kymo_step kymo_look_ahead(struct kymo_decoder *decoder) {
  uint32_t count = 0;
  enum kymo_step step = KYMO_STEP_EVENT;
  decoder->ahead =
      (struct kymo_ahead){decoder->next_bits, decoder->clock, decoder->budget, 0, decoder->has_damage};
  decoder->located = 0; /* lookahead uses the same slots */
  while (count < decoder->event_capacity) {
    if (decoder->event_offsets)
      count = find_given(decoder, count);
    else if (KYMO_LIKELY(decoder->plan->find))
      count = decoder->plan->find(decoder, count);
    if (count == decoder->event_capacity)
      break;
    step = kymo_step_slow(decoder, &decoder->found[count]);
    if (step != KYMO_STEP_EVENT)
      break; /* found again when the buffered events are used up */
    count++;
  }
  decoder->event_count = count;
  decoder->found[0].is_damaged = decoder->has_damage;
  decoder->has_damage = decoder->has_damage && count == 0;
  find_times(decoder);
  if (KYMO_UNLIKELY(decoder->plan->has_timed) && !decoder->event_offsets)
    find_untimed(decoder);
  return count > 0 ? KYMO_STEP_EVENT : step;
}

/* ---- counting ---- */

/* What a lane needs next is read from memory meanwhile: the processor follows few streams by itself, and none
 * to its next page. */
#define PREFETCH_BYTES 1024

#define SHAPE_COUNT 3
static const struct word_shape shapes[SHAPE_COUNT] = {SHAPE_COMPACT, SHAPE_LARGE, SHAPE_PACKED};

/* SHAPE_COUNT: another one. */
static unsigned shape_of(const struct kymo_stream_plan *plan) {
  unsigned shape = 0;
  while (shape < SHAPE_COUNT && !is_shape(plan, shapes[shape]))
    shape++;
  return shape;
}

bool kymo_lane_begin(struct kymo_lane *lane, const struct kymo_decoder *decoder, uint64_t *counts) {
  const struct kymo_stream_plan *plan = decoder->plan;
  unsigned shape = plan && plan->has_fast_header && plan->id_count ? shape_of(plan) : SHAPE_COUNT;
  if (shape == SHAPE_COUNT || decoder->event_offsets)
    return false;
  uint64_t id_high = shapes[shape].is_tag ? shapes[shape].tag_high : shapes[shape].id_mask;
  *lane = (struct kymo_lane){.sight = {decoder->packet.data, decoder->packet.content_bits, decoder->slots},
                             .leads = plan->by_id,
                             .next = decoder->next_bits,
                             .boundary = plan->header_align - 1,
                             .clock = decoder->clock,
                             .id_high = id_high < plan->id_count - 1 ? id_high : plan->id_count - 1,
                             .shape = shape,
                             .counts = counts};
  return true;
}

/* Counts one event, as find does. */
static inline __attribute__((always_inline)) bool count_one(struct kymo_lane *lane, struct word_shape shape) {
  const struct kymo_sight *sight = &lane->sight;
  uint64_t begin = (lane->next + lane->boundary) & ~lane->boundary;
  if (KYMO_UNLIKELY(begin >= sight->end))
    return false;
  const uint8_t *bytes = sight->data + begin / 8;
  __builtin_prefetch(bytes + PREFETCH_BYTES);
  uint64_t word = kymo_load_le64(bytes), id = word >> shape.id_shift & shape.id_mask;
  if (KYMO_UNLIKELY(id > lane->id_high))
    return false;
  const struct kymo_lead *lead = &lane->leads[id];
  uint64_t after = begin + shape.size_bits + lead->offset_bits;
  if (KYMO_UNLIKELY(after > sight->end))
    return false;
  if (lead->varies && KYMO_UNLIKELY((after = kymo_lead_end(lead, sight, after)) > sight->end))
    return false;
  lane->clock += ((word >> shape.time_shift) - lane->clock) & shape.time_mask;
  lane->next = after;
  lane->counts[lead->plan->kind]++;
  return true;
}

/* Lanes of one shape, which is a constant. */
#define RUNNERS(name, shape)                                            \
  static uint32_t run_##name(struct kymo_lane *lanes, uint32_t count) { \
    for (;;)                                                            \
      for (uint32_t i = 0; i < count; i++)                              \
        if (KYMO_UNLIKELY(!count_one(&lanes[i], shape)))                \
          return i;                                                     \
  }
RUNNERS(compact, SHAPE_COMPACT)
RUNNERS(large, SHAPE_LARGE)
RUNNERS(packed, SHAPE_PACKED)
RUNNERS(any, shapes[lanes[i].shape])

uint32_t kymo_lanes_run(struct kymo_lane *lanes, uint32_t count) {
  static uint32_t (*const runners[SHAPE_COUNT])(struct kymo_lane *, uint32_t) = {run_compact, run_large,
                                                                                 run_packed};
  bool are_equal = true;
  for (uint32_t i = 1; i < count; i++)
    are_equal &= lanes[i].shape == lanes[0].shape;
  return are_equal ? runners[lanes[0].shape](lanes, count) : run_any(lanes, count);
}

/* The clock only goes on within a lane, so if its ends have times, all events between them have. */
bool kymo_lane_end(const struct kymo_lane *lane, struct kymo_decoder *decoder) {
  struct kymo_ns ns = decoder->ns;
  bool goes_on = lane->clock >= decoder->clock;
  ns.is_beyond = false;
  if (ns.clock) {
    kymo_ns_of(&ns, decoder->clock);
    kymo_ns_of(&ns, lane->clock);
  }
  decoder->next_bits = lane->next;
  decoder->clock = lane->clock;
  return goes_on && !ns.is_beyond;
}
