/* SPDX-License-Identifier: MIT */
/*
 * All heads of chains are in one hash table with open addressing. A head without spans is removed and those
 * after it move up, so the table holds what is open only. The hash is keyed: keys come from files.
 */
#include "span/spans.h"
#include "base/hash.h"
#include <stdlib.h>

#define BLOCK_SPANS 64

/* Which chain a head begins. */
enum chain { CHAIN_SAME, CHAIN_THREAD, CHAIN_KEY };

struct kymo_span_head {
  struct kymo_span_key key;
  struct kymo_span *first; /* NULL: the place is free */
  uint32_t hash;
  enum chain chain;
};

struct kymo_span_block {
  struct kymo_span_block *next;
  struct kymo_span spans[BLOCK_SPANS];
};

/* ---- heads ---- */

static struct kymo_span_head head_of(enum chain chain, struct kymo_span_key key) {
  struct kymo_keyed hash;
  kymo_keyed_begin(&hash);
  kymo_keyed_add(&hash, chain);
  kymo_keyed_add(&hash, key.thread);
  kymo_keyed_add(&hash, key.key);
  return (struct kymo_span_head){.key = key, .hash = (uint32_t)kymo_keyed_end(&hash), .chain = chain};
}

static bool is_head(const struct kymo_span_head *a, const struct kymo_span_head *b) {
  return a->hash == b->hash && a->chain == b->chain && a->key.thread == b->key.thread &&
         a->key.key == b->key.key;
}

/* The place of a head, or the free one where it belongs. The table has free places. */
static size_t place_of(const struct kymo_spans *spans, const struct kymo_span_head *head) {
  size_t at = head->hash & (spans->head_capacity - 1);
  while (spans->heads[at].first && !is_head(&spans->heads[at], head))
    at = (at + 1) & (spans->head_capacity - 1);
  return at;
}

static struct kymo_span *first_of(const struct kymo_spans *spans, enum chain chain,
                                  struct kymo_span_key key) {
  if (!spans->head_capacity)
    return NULL;
  struct kymo_span_head head = head_of(chain, key);
  return spans->heads[place_of(spans, &head)].first;
}

static bool grow(struct kymo_spans *spans) {
  struct kymo_spans larger = *spans;
  larger.head_capacity = spans->head_capacity ? spans->head_capacity * 2 : 64;
  larger.heads =
      larger.head_capacity <= SIZE_MAX / 2 ? calloc(larger.head_capacity, sizeof *larger.heads) : NULL;
  if (!larger.heads)
    return false;
  for (size_t i = 0; i < spans->head_capacity; i++)
    if (spans->heads[i].first)
      larger.heads[place_of(&larger, &spans->heads[i])] = spans->heads[i];
  free(spans->heads);
  *spans = larger;
  return true;
}

/* Room for the heads of one more span. */
static bool reserve(struct kymo_spans *spans) {
  return spans->head_count + 3 <= spans->head_capacity / 2 || grow(spans);
}

/* Removes the head at a place; those that were pushed away from there move up. */
static void remove_head(struct kymo_spans *spans, size_t at) {
  size_t mask = spans->head_capacity - 1;
  for (size_t next = (at + 1) & mask; spans->heads[next].first; next = (next + 1) & mask) {
    size_t home = spans->heads[next].hash & mask;
    if (((next - home) & mask) < ((next - at) & mask))
      continue;
    spans->heads[at] = spans->heads[next];
    at = next;
  }
  spans->heads[at].first = NULL;
  spans->head_count--;
}

/* Makes `first` the first of a chain, and returns what was; NULL ends the chain. There is room (reserve). */
static struct kymo_span *set_first(struct kymo_spans *spans, enum chain chain, struct kymo_span_key key,
                                   struct kymo_span *first) {
  struct kymo_span_head head = head_of(chain, key);
  size_t at = place_of(spans, &head);
  struct kymo_span *old = spans->heads[at].first;
  if (!first) {
    remove_head(spans, at);
    return old;
  }
  if (!old) {
    spans->heads[at] = head;
    spans->head_count++;
  }
  spans->heads[at].first = first;
  return old;
}

/* ---- spans ---- */

static struct kymo_span *new_span(struct kymo_spans *spans) {
  if (!spans->free) {
    struct kymo_span_block *block = malloc(sizeof *block);
    if (!block)
      return NULL;
    block->next = spans->blocks;
    spans->blocks = block;
    for (size_t i = 0; i < BLOCK_SPANS; i++) {
      block->spans[i].same = spans->free;
      spans->free = &block->spans[i];
    }
  }
  struct kymo_span *span = spans->free;
  spans->free = span->same;
  return span;
}

struct kymo_span *kymo_spans_begin(struct kymo_spans *spans, struct kymo_span_key key) {
  struct kymo_span *span = reserve(spans) ? new_span(spans) : NULL;
  if (!span)
    return NULL;
  *span = (struct kymo_span){.key = key};
  span->same = set_first(spans, CHAIN_SAME, key, span);
  if (spans->is_nested) {
    span->outer = set_first(spans, CHAIN_THREAD, (struct kymo_span_key){.thread = key.thread}, span);
    if (span->outer)
      span->outer->inner = span;
  }
  if (spans->crosses_threads) {
    span->older = set_first(spans, CHAIN_KEY, (struct kymo_span_key){.key = key.key}, span);
    if (span->older)
      span->older->newer = span;
  }
  spans->open++;
  return span;
}

struct kymo_span *kymo_spans_find(const struct kymo_spans *spans, struct kymo_span_key key) {
  return first_of(spans, CHAIN_SAME, key);
}

struct kymo_span *kymo_spans_find_elsewhere(const struct kymo_spans *spans, uint64_t key) {
  return first_of(spans, CHAIN_KEY, (struct kymo_span_key){.key = key});
}

struct kymo_span *kymo_spans_innermost(const struct kymo_spans *spans, uint64_t thread) {
  return first_of(spans, CHAIN_THREAD, (struct kymo_span_key){.thread = thread});
}

void kymo_spans_end(struct kymo_spans *spans, struct kymo_span *span) {
  set_first(spans, CHAIN_SAME, span->key, span->same);
  if (spans->is_nested) {
    if (span->outer)
      span->outer->inner = span->inner;
    if (span->inner)
      span->inner->outer = span->outer;
    else
      set_first(spans, CHAIN_THREAD, (struct kymo_span_key){.thread = span->key.thread}, span->outer);
  }
  if (spans->crosses_threads) {
    if (span->older)
      span->older->newer = span->newer;
    if (span->newer)
      span->newer->older = span->older;
    else
      set_first(spans, CHAIN_KEY, (struct kymo_span_key){.key = span->key.key}, span->older);
  }
  span->same = spans->free;
  spans->free = span;
  spans->open--;
}

void kymo_spans_each(const struct kymo_spans *spans, kymo_span_handler *each, void *user) {
  for (size_t i = 0; i < spans->head_capacity; i++)
    if (spans->heads[i].chain == CHAIN_SAME)
      for (struct kymo_span *span = spans->heads[i].first; span; span = span->same)
        if (!each(user, span))
          return;
}

void kymo_spans_free(struct kymo_spans *spans) {
  while (spans->blocks) {
    struct kymo_span_block *block = spans->blocks;
    spans->blocks = block->next;
    free(block);
  }
  free(spans->heads);
  *spans = (struct kymo_spans){.is_nested = spans->is_nested, .crosses_threads = spans->crosses_threads};
}
