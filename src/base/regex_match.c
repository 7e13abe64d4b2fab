/* SPDX-License-Identifier: MIT */
/*
 * Matching: the set of instructions that may be next is one state; its transition for each byte is computed
 * once and kept. When there are too many states, all are dropped: time stays linear, and memory bounded.
 */
#include "base/list.h"
#include "base/regex_program.h"
#include <stdlib.h>
#include <string.h>

#define STATES_MIN 4
#define STATES_MAX 128
#define UNKNOWN UINT16_MAX
#define NO_STATE UINT32_MAX

struct state {
  uint32_t first, count; /* in `members` */
  bool is_match, is_match_at_end;
  uint16_t next[256];
};

struct kymo_regex_memory {
  const struct kymo_regex *regex;
  struct state *states; /* 0: the begin */
  uint32_t state_count, state_capacity;
  uint32_t *members; /* BYTES and END instructions of all states */
  uint32_t member_count, member_capacity;
  /* scratch, one place an instruction */
  uint32_t *set, *kept, *stack;
  uint32_t set_count;
  uint32_t *marks, mark; /* marks[i] == mark: i is in the set */
  bool has_match;
};

struct kymo_regex_memory *kymo_regex_memory_new(const struct kymo_regex *regex) {
  struct kymo_regex_memory *memory = calloc(1, sizeof *memory);
  if (!memory)
    return NULL;
  memory->regex = regex;
  memory->member_capacity =
      regex->count * 2 + 64; /* at least the begin and one more, which `step` relies on */
  memory->state_capacity = STATES_MIN;
  memory->states = malloc(STATES_MIN * sizeof *memory->states);
  memory->members = malloc(memory->member_capacity * sizeof *memory->members);
  memory->set = malloc(regex->count * sizeof *memory->set);
  memory->kept = malloc(regex->count * sizeof *memory->kept);
  memory->stack = malloc((2 * (size_t)regex->count + 2) * sizeof *memory->stack);
  memory->marks = calloc(regex->count, sizeof *memory->marks);
  if (memory->states && memory->members && memory->set && memory->kept && memory->stack && memory->marks)
    return memory;
  kymo_regex_memory_free(memory);
  return NULL;
}

void kymo_regex_memory_free(struct kymo_regex_memory *memory) {
  if (!memory)
    return;
  free(memory->states);
  free(memory->members);
  free(memory->set);
  free(memory->kept);
  free(memory->stack);
  free(memory->marks);
  free(memory);
}

static void clear_set(struct kymo_regex_memory *memory) {
  memory->set_count = 0;
  memory->has_match = false;
  if (++memory->mark == 0) {
    memset(memory->marks, 0, memory->regex->count * sizeof *memory->marks);
    memory->mark = 1;
  }
}

/* Adds an instruction and all that are reached from it without consuming a byte. */
static void add(struct kymo_regex_memory *memory, uint32_t from, bool at_begin, bool at_end) {
  uint32_t depth = 0;
  for (memory->stack[depth++] = from; depth > 0;) {
    uint32_t index = memory->stack[--depth];
    const struct regex_step *step = &memory->regex->steps[index];
    if (memory->marks[index] == memory->mark)
      continue;
    memory->marks[index] = memory->mark;
    switch (step->op) {
    case REGEX_MATCH: memory->has_match = true; break;
    case REGEX_SPLIT:
      memory->stack[depth++] = step->other;
      memory->stack[depth++] = step->next;
      break;
    case REGEX_BEGIN:
      if (at_begin)
        memory->stack[depth++] = step->next;
      break;
    case REGEX_END:
      if (at_end) {
        memory->stack[depth++] = step->next;
        break;
      }
      memory->set[memory->set_count++] = index;
      break;
    case REGEX_BYTES: memory->set[memory->set_count++] = index; break;
    }
  }
}

/* What the current set would match if the text ended here. It changes the set. */
static bool matches_at_end(struct kymo_regex_memory *memory, uint32_t first, uint32_t count, bool at_begin) {
  clear_set(memory);
  if (at_begin)
    add(memory, memory->regex->start, true, true);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = memory->members[first + i];
    if (memory->regex->steps[index].op == REGEX_END)
      add(memory, memory->regex->steps[index].next, at_begin, true);
  }
  return memory->has_match;
}

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Makes space for one more state, whose members are the set; false: there is none, so older states must be
 * dropped. */
static bool make_room(struct kymo_regex_memory *memory) {
  uint32_t most = memory->regex->count * 16 + 64;
  if (!KYMO_LIST_ROOM_UP_TO(memory->states, memory->state_capacity, memory->state_count, STATES_MAX))
    return false;
  if (memory->member_capacity - memory->member_count < memory->set_count) {
    uint32_t *members =
        memory->member_capacity < most ? realloc(memory->members, most * sizeof *members) : NULL;
    if (!members)
      return false;
    memory->members = members;
    memory->member_capacity = most;
  }
  return true;
}

/* The state of the set, new or known; NO_STATE: there is no space. */
static uint32_t take_set(struct kymo_regex_memory *memory, bool at_begin) {
  size_t size = memory->set_count * sizeof *memory->set;
  qsort(memory->set, memory->set_count, sizeof *memory->set, compare);
  for (uint32_t i = at_begin ? memory->state_count : 1; i < memory->state_count; i++) {
    const struct state *state = &memory->states[i];
    if (state->count == memory->set_count && state->is_match == memory->has_match &&
        memcmp(memory->members + state->first, memory->set, size) == 0)
      return i;
  }
  if (!make_room(memory))
    return NO_STATE;
  struct state *state = &memory->states[memory->state_count];
  state->first = memory->member_count;
  state->count = memory->set_count;
  state->is_match = memory->has_match;
  memset(state->next, 0xff, sizeof state->next);
  memcpy(memory->members + memory->member_count, memory->set, size);
  memory->member_count += memory->set_count;
  state->is_match_at_end = state->is_match || matches_at_end(memory, state->first, state->count, at_begin);
  return memory->state_count++;
}

static void forget(struct kymo_regex_memory *memory) {
  memory->state_count = memory->member_count = 0;
  clear_set(memory);
  add(memory, memory->regex->start, true, false);
  take_set(memory, true);
}

/* The state after `byte`. */
static uint32_t step(struct kymo_regex_memory *memory, uint32_t from, uint8_t byte) {
  const struct kymo_regex *regex = memory->regex;
  const struct state *state = &memory->states[from];
  clear_set(memory);
  for (uint32_t i = 0; i < state->count; i++) {
    const struct regex_step *member = &regex->steps[memory->members[state->first + i]];
    if (member->op == REGEX_BYTES && regex_set_has(&regex->sets[member->set], byte))
      add(memory, member->next, false, false);
  }
  if (!regex->is_anchored)
    add(memory, regex->start, false, false);
  uint32_t next = take_set(memory, false);
  if (next != NO_STATE) {
    memory->states[from].next[byte] = (uint16_t)next; /* they may have moved */
    return next;
  }
  uint32_t count = memory->set_count;
  bool has_match = memory->has_match;
  memcpy(memory->kept, memory->set, count * sizeof *memory->kept);
  forget(memory);
  memcpy(memory->set, memory->kept, count * sizeof *memory->kept);
  memory->set_count = count;
  memory->has_match = has_match;
  return take_set(memory, false);
}

bool kymo_regex_matches(struct kymo_regex_memory *memory, const uint8_t *text, size_t length) {
  uint32_t at = 0;
  if (memory->state_count == 0)
    forget(memory);
  for (size_t i = 0; i < length; i++) {
    const struct state *state = &memory->states[at];
    if (state->is_match)
      return true;
    uint16_t next = state->next[text[i]];
    at = next != UNKNOWN ? next : step(memory, at, text[i]);
  }
  return memory->states[at].is_match_at_end;
}
