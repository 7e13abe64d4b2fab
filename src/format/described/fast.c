/* SPDX-License-Identifier: MIT */
/* Rows of the fast path: the same bytes that rows.c stores, by a list of copies built once per kind. */
#include "format/described/described.h"
#include "plan/plain.h"
#include <stdlib.h>

/* Interpretations of small codes are looked up once. */
#define CODES 256
/* The end of a record is known only after it is decoded, so bytes far ahead are prefetched: processors do not
 * prefetch beyond a page themselves. */
#define AHEAD_BYTES 4096
/* Limit of a row. Several fields may be the same bytes, so rows may be much longer than records. */
#define ROW_MAX (UINT64_C(1) << 30)

/* is_raw: the field's bytes are those at this offset of the record, and `bytes` may be those of several
 * fields. */
struct copy {
  uint16_t slot, bytes;
  enum kymo_plan_form_kind form;
  bool has_scale, is_number, is_raw;
  uint32_t place;
  double scale, divisor, offset;
};

/* A test of a prefilter, and its column. */
struct probe {
  struct kymo_raw_test test;
  const struct copy *column;
};

/* The tests of a prefilter for a class. */
struct gate {
  bool fails;
  const struct probe *begin, *end;
};

struct described_fast {
  const struct described *described;
  struct kymo_fast_path *fast;
  struct kymo_fast_run run;
  struct copy *columns, *copies; /* one each; fields that are adjacent in file and row as one */
  uint32_t column_count, copy_count;
  struct copy **loose; /* copies whose size is not constant, or whose number may not fit */
  uint32_t loose_count;
  bool has_time, may_lack_time; /* of the trace */
  int64_t bias_ns;              /* added to times in rows */
  uint32_t constant;            /* bytes of a row without its texts and blobs */
  bool is_big;                  /* the file that the copies are for */
  size_t fixed;                 /* maximum bytes of a row without its texts and blobs */
  uint32_t tails;               /* texts and blobs of a row */
  uint32_t first;               /* class of the kind */
  bool has_event;               /* a code in `event` selects its class */
  uint16_t event;
  uint32_t token, classes[CODES]; /* of small codes */
  struct probe *probes;
  struct gate *gates; /* by class of the kind; NULL: all events are wanted */
  uint32_t left_out;  /* the class of events that are left out */
};

/* ---- making it ---- */

static bool make_copy(const struct described_fast *fast, const struct kymo_plan_column *column,
                      struct copy *copy) {
  const struct kymo_plan *plan = fast->described->plan;
  if (!kymo_plan_is_single(column))
    return false;
  const struct kymo_plan_option *option = &plan->options[column->first_option];
  struct kymo_plan_form form = kymo_plan_form(plan, option->shape, option->bits, option->view);
  bool is_plain = !column->is_optional && column->option_count == 1 && option->slot < KYMO_FAST_SLOTS;
  enum kymo_fast_sort sort = is_plain ? fast->fast->sorts[option->slot] : KYMO_FAST_UNSET;
  bool is_number = form.kind <= KYMO_FORM_FLOAT;
  *copy = (struct copy){.slot = (uint16_t)option->slot,
                        .bytes = (uint16_t)form.bytes,
                        .form = form.kind,
                        .has_scale = form.has_scale,
                        .is_number = sort == KYMO_FAST_NUMBER,
                        .scale = form.scale,
                        .divisor = form.divisor,
                        .offset = form.offset};
  if (sort == KYMO_FAST_FLOAT)
    return form.kind == KYMO_FORM_FLOAT;
  if (sort == KYMO_FAST_NUMBER)
    return is_number && form.show != KYMO_SHOW_CHAR;
  bool is_text = form.kind == KYMO_FORM_TEXT && form.show == KYMO_SHOW_NONE &&
                 plan->root->characters == KYMO_CHARACTERS_UTF8;
  return sort == KYMO_FAST_BYTES && (is_text || form.kind == KYMO_FORM_BLOB);
}

static uint32_t class_of_code(const struct described_fast *fast, int64_t code) {
  struct kymo_wide wide = kymo_wide_of_i64(code);
  uint32_t item, count = fast->described->classes.first[fast->fast->kind + 1] - fast->first;
  if (!kymo_token_find(fast->described->plan, fast->token, &wide, &item))
    return fast->first;
  uint32_t more = 1 + fast->described->classes.token_class[fast->token][item];
  return more < count ? fast->first + more : fast->first;
}

static bool make_event(struct described_fast *fast, const struct kymo_plan_kind *kind) {
  const struct kymo_plan *plan = fast->described->plan;
  fast->first = fast->described->classes.first[fast->fast->kind];
  const struct kymo_plan_option *option = kymo_plan_event_option(plan, kind);
  const struct kymo_plan_view *view =
      !option || option->view == KYMO_PLAN_NONE ? NULL : &plan->views[option->view];
  if (!view || (view->token == KYMO_PLAN_NONE && view->names == KYMO_PLAN_NONE))
    return true;
  if (view->token == KYMO_PLAN_NONE || option->slot >= KYMO_FAST_SLOTS ||
      fast->fast->sorts[option->slot] != KYMO_FAST_NUMBER)
    return false;
  fast->has_event = true;
  fast->event = (uint16_t)option->slot;
  fast->token = view->token;
  for (uint32_t i = 0; i < CODES; i++)
    fast->classes[i] = class_of_code(fast, i);
  return true;
}

static bool make(struct described_fast *fast) {
  const struct kymo_plan *plan = fast->described->plan;
  const struct kymo_plan_kind *kind = &plan->kinds[fast->fast->kind];
  fast->fixed = 16;
  fast->columns = calloc((size_t)kind->column_count + 1, sizeof *fast->columns);
  fast->copies = calloc((size_t)kind->column_count + 1, sizeof *fast->copies);
  fast->loose = calloc((size_t)kind->column_count + 1, sizeof(struct copy *));
  for (uint32_t i = 0; fast->columns && i < kind->column_count; i++) {
    const struct kymo_plan_column *column = &plan->columns[kind->first_column + i];
    struct copy *copy = &fast->columns[fast->column_count];
    if (column->is_hidden)
      continue;
    if (!make_copy(fast, column, copy))
      return false;
    fast->column_count++;
    fast->tails += copy->form > KYMO_FORM_FLOAT;
    fast->fixed += 8;
  }
  return fast->columns && fast->copies && fast->loose && make_event(fast, kind);
}

/* Fields that are in the row what they are in the file, one after another, are copied together. */
static void join_copies(struct described_fast *fast, bool is_big) {
  bool *is_wanted = fast->fast->is_wanted;
  memset(is_wanted, 0, sizeof fast->fast->is_wanted);
  is_wanted[fast->event] |= fast->has_event;
  fast->is_big = is_big;
  fast->copy_count = fast->loose_count = 0;
  fast->constant = (fast->has_time ? 10 : 2) + fast->may_lack_time;
  for (uint32_t i = 0; i < fast->column_count; i++) {
    struct copy *column = &fast->columns[i],
                *last = fast->copy_count ? &fast->copies[fast->copy_count - 1] : NULL;
    const struct kymo_fast_place *place = &fast->fast->places[column->slot];
    bool is_little = !(place->x & 2) && !(place->x & 4 && is_big);
    bool is_same = place->bytes == column->bytes &&
                   column->form == (place->x & 1 ? KYMO_FORM_SIGNED : KYMO_FORM_UNSIGNED);
    column->is_raw = is_same && (is_little || place->bytes == 1);
    column->place = place->offset;
    is_wanted[column->slot] |= !column->is_raw;
    if (column->is_raw && last && last->is_raw && last->place + last->bytes == column->place &&
        last->bytes < 256)
      last->bytes = (uint16_t)(last->bytes + column->bytes);
    else
      fast->copies[fast->copy_count++] = *column;
    fast->constant += column->form <= KYMO_FORM_FLOAT ? column->bytes : 0;
    if (!column->is_raw && column->form != KYMO_FORM_FLOAT)
      fast->loose[fast->loose_count++] = column;
  }
}

/* ---- prefilters ---- */

/* The number whose bits the test reads, or NULL: then the filter tests it. */
static const struct copy *find_column(const struct described_fast *fast, const struct kymo_raw_test *test) {
  uint64_t at_bits = 0;
  for (const struct copy *column = fast->columns, *end = column + fast->column_count; column < end;
       column++) {
    if (column->form > KYMO_FORM_SIGNED && column->form != KYMO_FORM_FLOAT)
      return NULL; /* after a text, offsets are not constant */
    bool is_number = column->form <= KYMO_FORM_SIGNED && !test->is_big;
    if (at_bits == test->offset_bits && test->bits == column->bytes * 8u)
      return is_number ? column : NULL;
    at_bits += column->bytes * 8u;
  }
  return NULL;
}

static bool make_gates(struct described_fast *fast, const struct kymo_prefilter *prefilter) {
  const uint32_t *first = &fast->described->classes.first[fast->fast->kind];
  uint32_t count = first[1] - first[0], tests = 0;
  fast->left_out = fast->described->classes.count;
  for (uint32_t i = 0; i < count; i++)
    tests += prefilter->classes[first[0] + i].test_count;
  fast->probes = calloc((size_t)tests + 1, sizeof *fast->probes);
  fast->gates = calloc((size_t)count + 1, sizeof *fast->gates);
  struct probe *probe = fast->probes;
  for (uint32_t i = 0; probe && fast->gates && i < count; i++) {
    const struct kymo_prefilter_class *class_ = &prefilter->classes[first[0] + i];
    fast->gates[i] = (struct gate){.fails = class_->fails, .begin = probe};
    for (uint32_t j = 0; j < class_->test_count; j++)
      if ((probe->column = find_column(fast, &class_->tests[j])) != NULL)
        (probe++)->test = class_->tests[j];
    fast->gates[i].end = probe;
  }
  return fast->probes && fast->gates;
}

/* ---- fast paths ---- */

struct described_fast *kymo_described_fast_new(const struct described *described, uint32_t kind,
                                               const struct kymo_prefilter *prefilter) {
  struct described_fast *fast = calloc(1, sizeof *fast);
  if (!fast)
    return NULL;
  fast->described = described;
  fast->has_time = described->has_time;
  fast->may_lack_time = described->classes.may_lack_time;
  fast->bias_ns = described->classes.bias_ns;
  fast->fast = kymo_fast_path_new(described->plan, kind);
  if (fast->fast && make(fast) && (!prefilter || make_gates(fast, prefilter))) {
    join_copies(fast, false);
    return fast;
  }
  kymo_described_fast_free(fast);
  return NULL;
}

void kymo_described_fast_free(struct described_fast *fast) {
  if (!fast)
    return;
  kymo_fast_path_free(fast->fast);
  kymo_fast_path_release(&fast->run);
  free(fast->columns);
  free(fast->copies);
  free(fast->loose);
  free(fast->probes);
  free(fast->gates);
  free(fast);
}

static inline uint64_t load(const uint8_t *from, unsigned bytes) {
  switch (bytes) {
  case 1: return *from;
  case 2: return kymo_load_le16(from);
  case 4: return kymo_load_le32(from);
  default: return kymo_load_le64(from);
  }
}

/* Whether the current record, of this class, gets a row. */
static inline bool is_wanted(const struct described_fast *fast, uint32_t class_index) {
  const struct gate *gate = &fast->gates[class_index - fast->first];
  const struct kymo_fast_run *run = &fast->run;
  for (const struct probe *probe = gate->begin; probe < gate->end; probe++) {
    const struct copy *column = probe->column;
    uint64_t value = column->is_raw ? load(run->data + run->at + column->place, column->bytes)
                                    : (uint64_t)run->number[column->slot];
    if (!kymo_raw_test_passes(&probe->test, value))
      return false;
  }
  return !gate->fails;
}

/* ---- rows ---- */

static inline void store(uint8_t **at, uint64_t value, unsigned bytes) {
  value = KYMO_HOST_IS_BIG ? __builtin_bswap64(value) : value;
  switch (bytes) {
  case 1: memcpy(*at, &value, 1); break;
  case 2: memcpy(*at, &value, 2); break;
  case 4: memcpy(*at, &value, 4); break;
  default: memcpy(*at, &value, 8);
  }
  *at += bytes;
}

static uint64_t float_bits(const struct copy *copy, int64_t number, unsigned loaded) {
  double value;
  uint64_t raw;
  float single;
  uint32_t raw32 = (uint32_t)number;
  if (copy->is_number) {
    value = (double)number;
  } else if (loaded == 4) {
    memcpy(&single, &raw32, sizeof single);
    value = (double)single;
  } else {
    memcpy(&value, &number, sizeof value);
  }
  value = copy->has_scale ? kymo_plan_scaled(value, copy->scale, copy->divisor, copy->offset) : value;
  if (copy->bytes == 4) {
    single = (float)value;
    memcpy(&raw32, &single, sizeof raw32);
    return raw32;
  }
  memcpy(&raw, &value, sizeof raw);
  return raw;
}

static inline void put_raw(const struct copy *copy, const uint8_t *record, uint8_t **at) {
  switch (copy->bytes) {
  case 4: memcpy(*at, record + copy->place, 4); break;
  case 8: memcpy(*at, record + copy->place, 8); break;
  default: memcpy(*at, record + copy->place, copy->bytes);
  }
  *at += copy->bytes;
}

static inline bool fits(const struct copy *copy, int64_t number) {
  if (copy->form == KYMO_FORM_UNSIGNED)
    return copy->bytes == 8 ? number >= 0 : (uint64_t)number >> copy->bytes * 8 == 0;
  return kymo_sign_extend((uint64_t)number, copy->bytes * 8u) == number;
}

/* False: the value does not fit its field. */
static inline bool put(const struct copy *copy, const struct kymo_fast_run *run, uint8_t **at) {
  int64_t number = run->number[copy->slot];
  uint32_t length = run->length[copy->slot];
  switch (copy->form) {
  case KYMO_FORM_UNSIGNED:
  case KYMO_FORM_SIGNED: store(at, (uint64_t)number, copy->bytes); return fits(copy, number);
  case KYMO_FORM_FLOAT: store(at, float_bits(copy, number, length), copy->bytes); return true;
  case KYMO_FORM_TEXT:
    length = length ? (uint32_t)strnlen((const char *)run->data + number, length) : 0;
    memcpy(*at, run->data + number, length);
    (*at)[length] = '\0';
    *at += length + 1;
    return true;
  default:
    store(at, length, 4);
    memcpy(*at, run->data + number, length);
    *at += length;
    return true;
  }
}

/* Moves after the row that the current record would have. False: a value does not fit its field. */
static inline bool pass_row(const struct described_fast *fast, uint8_t **at) {
  const struct kymo_fast_run *run = &fast->run;
  bool do_fit = true;
  *at += fast->constant;
  for (uint32_t i = 0; i < fast->loose_count; i++) {
    const struct copy *copy = fast->loose[i];
    uint32_t length = run->length[copy->slot];
    if (copy->form == KYMO_FORM_BLOB)
      *at += 4 + (size_t)length;
    else if (copy->form == KYMO_FORM_TEXT)
      *at += (length ? strnlen((const char *)run->data + run->number[copy->slot], length) : 0) + 1;
    else
      do_fit &= fits(copy, run->number[copy->slot]);
  }
  return do_fit;
}

static inline bool put_row(const struct described_fast *fast, uint64_t cycles, uint32_t class_index,
                           uint8_t **at) {
  const struct kymo_fast_run *run = &fast->run;
  const uint8_t *record = run->data + run->at;
  uint8_t *to = *at;
  bool do_fit = true;
  if (fast->has_time)
    store(&to, cycles, 8);
  store(&to, class_index, 2);
  if (fast->may_lack_time)
    store(&to, run->has_time, 1);
  for (const struct copy *copy = fast->copies, *end = copy + fast->copy_count; copy < end; copy++) {
    if (copy->is_raw)
      put_raw(copy, record, &to);
    else
      do_fit &= put(copy, run, &to);
  }
  *at = to;
  return do_fit;
}

static inline uint32_t class_of(const struct described_fast *fast) {
  if (!fast->has_event)
    return fast->first;
  int64_t code = fast->run.number[fast->event];
  return code >= 0 && code < CODES ? fast->classes[code] : class_of_code(fast, code);
}

/* Stores the current record at *at, where there is space; an unwanted record takes the same space. */
static inline bool lay_down(const struct described_fast *fast, uint8_t **at,
                            struct kymo_event_offset *event_offset) {
  const struct kymo_fast_run *run = &fast->run;
  int64_t time = run->has_time ? run->time_ns : run->last_time_ns;
  uint64_t cycles = (uint64_t)time + (uint64_t)fast->bias_ns;
  uint32_t class_index = class_of(fast);
  if (KYMO_UNLIKELY(time < -fast->bias_ns))
    return false;
  bool is_row = !fast->gates || is_wanted(fast, class_index);
  event_offset->cycles = cycles;
  event_offset->class_index = (is_row ? class_index : fast->left_out) & KYMO_EVENT_OFFSET_CLASS;
  event_offset->is_untimed = fast->has_time && !run->has_time;
  return is_row ? put_row(fast, cycles, class_index, at) : pass_row(fast, at);
}

/* Maximum bytes of the row of the current record. No text is longer than the record, which is usually a
 * sufficient limit. */
static inline uint64_t room_for(const struct described_fast *fast) {
  const struct kymo_fast_run *run = &fast->run;
  uint64_t room = fast->fixed + (run->next - run->at) * fast->tails;
  if (room <= KYMO_BLOCK_BYTES)
    return room;
  room = fast->fixed;
  for (uint32_t i = 0; i < fast->loose_count; i++)
    room += fast->loose[i]->form > KYMO_FORM_FLOAT ? run->length[fast->loose[i]->slot] : 0;
  return room;
}

/* Decodes the record at run->at and stores its row. 1: done; 0: the machine must decode it; KYMO_E_MEMORY. */
static inline int add_row(struct described_fast *fast, struct kymo_block *block,
                          struct kymo_event_offset *event_offset) {
  struct kymo_fast_run *run = &fast->run;
  uint64_t room;
  if (!kymo_fast_decode(run) || (room = room_for(fast)) > ROW_MAX)
    return 0;
  if (KYMO_UNLIKELY(room > block->capacity - (size_t)(block->at - block->bytes)) &&
      !kymo_block_reserve(block, (size_t)room))
    return KYMO_E_MEMORY;
  uint8_t *at = block->at;
  event_offset->at = (uint32_t)(at - block->bytes);
  if (!lay_down(fast, &at, event_offset))
    return 0;
  block->at = at;
  return 1;
}

int kymo_described_fast_rows(struct described_fast *fast, struct kymo_plan_machine *machine,
                             struct kymo_block *block, struct kymo_event_offset *event_offsets,
                             uint32_t *count) {
  struct kymo_fast_run *run = &fast->run;
  int status = 0;
  bool is_big = machine->state.order == KYMO_PLAN_BIG;
  if (is_big != fast->is_big)
    join_copies(fast, is_big);
  struct kymo_event_offset *event_offset = event_offsets, *end = event_offsets + *count;
  if (kymo_fast_path_begin(run, fast->fast, machine)) {
    run->last_time_ns = run->last_time_ns == INT64_MIN ? -fast->bias_ns : run->last_time_ns;
    do {
      __builtin_prefetch(run->data + run->at + AHEAD_BYTES);
      status = add_row(fast, block, event_offset);
      if (status <= 0)
        break;
      kymo_fast_path_accept(run);
      event_offset++;
    } while (event_offset < end && block->at <= block->bytes + KYMO_BLOCK_BYTES);
    kymo_fast_path_end(run, machine);
  }
  *count = (uint32_t)(event_offset - event_offsets);
  return status;
}
