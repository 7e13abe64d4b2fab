/* SPDX-License-Identifier: MIT */
/*
 * For each sort of chain a hash table contains the first span of each chain. Chains without spans are
 * removed, so the tables contain only open spans. The hash is keyed: keys come from untrusted files.
 */
#include "span/spans.h"
#include "base/hash.h"
#include <stdlib.h>

#define BLOCK_SPANS 64

struct kymo_span_block {
  struct kymo_span_block *next;
  struct kymo_span spans[BLOCK_SPANS];
};

/* ---- chains ---- */

/* A keyed hash takes longer than the rest of a span: it is computed once for a key that comes again soon. */
static uint32_t hash_of(struct kymo_spans *spans, struct kymo_span_key key) {
  uint64_t mixed = (key.thread + key.key * 3) * UINT64_C(0x9e3779b97f4a7c15);
  struct kymo_span_hash *known = &spans->hashes[mixed >> (64 - KYMO_SPAN_HASHES_LOG2)];
  if (!known->is_set || known->key.thread != key.thread || known->key.key != key.key)
    *known = (struct kymo_span_hash){key, (uint32_t)kymo_keyed_pair(key.thread, key.key), true};
  return known->hash;
}

/* The part of a span's key that all spans of a chain share, the rest 0. */
static struct kymo_span_key key_in(const struct kymo_spans *spans, const struct kymo_hash_table *chains,
                                   struct kymo_span_key key) {
  return (struct kymo_span_key){.thread = chains == &spans->keys ? 0 : key.thread,
                                .key = chains == &spans->threads ? 0 : key.key};
}

static struct kymo_span *first_at(const struct kymo_spans *spans, const struct kymo_hash_table *chains,
                                  struct kymo_span_key key, uint32_t hash) {
  struct kymo_span *first;
  uint32_t at = hash;
  while ((first = (struct kymo_span *)kymo_hash_table_next(chains, hash, &at))) {
    struct kymo_span_key known = key_in(spans, chains, first->key);
    if (known.thread == key.thread && known.key == key.key)
      break;
  }
  return first;
}

static uint32_t hash_in(struct kymo_spans *spans, const struct kymo_hash_table *chains,
                        struct kymo_span_key key) {
  return hash_of(spans, key_in(spans, chains, key));
}

static struct kymo_span *first_of(struct kymo_spans *spans, const struct kymo_hash_table *chains,
                                  struct kymo_span_key key) {
  return first_at(spans, chains, key, hash_of(spans, key));
}

/* Space for the chains of one more span. */
static bool reserve(struct kymo_spans *spans) {
  return kymo_hash_table_reserve(&spans->same, NULL) &&
         (!spans->is_nested || kymo_hash_table_reserve(&spans->threads, NULL)) &&
         (!spans->crosses_threads || kymo_hash_table_reserve(&spans->keys, NULL));
}

/* Makes `first` the first span of its chain, and returns the previous one. There is space (reserve). */
static struct kymo_span *push(struct kymo_spans *spans, struct kymo_hash_table *chains, uint32_t hash,
                              struct kymo_span *first) {
  struct kymo_span *old = first_at(spans, chains, key_in(spans, chains, first->key), hash);
  if (old)
    kymo_hash_table_change(chains, hash, (uintptr_t)old, (uintptr_t)first);
  else
    kymo_hash_table_put(chains, hash, (uintptr_t)first);
  return old;
}

/* Removes the first span of a chain. */
static void pop(struct kymo_hash_table *chains, uint32_t hash, struct kymo_span *first,
                struct kymo_span *second) {
  kymo_hash_table_change(chains, hash, (uintptr_t)first, (uintptr_t)second);
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
  span->same_hash = hash_in(spans, &spans->same, key);
  span->same = push(spans, &spans->same, span->same_hash, span);
  if (spans->is_nested) {
    span->thread_hash = hash_in(spans, &spans->threads, key);
    span->outer = push(spans, &spans->threads, span->thread_hash, span);
    if (span->outer)
      span->outer->inner = span;
  }
  if (spans->crosses_threads) {
    span->key_hash = hash_in(spans, &spans->keys, key);
    span->older = push(spans, &spans->keys, span->key_hash, span);
    if (span->older)
      span->older->newer = span;
  }
  spans->open++;
  return span;
}

struct kymo_span *kymo_spans_find(struct kymo_spans *spans, struct kymo_span_key key) {
  return first_of(spans, &spans->same, key);
}

struct kymo_span *kymo_spans_find_elsewhere(struct kymo_spans *spans, uint64_t key) {
  return first_of(spans, &spans->keys, (struct kymo_span_key){.key = key});
}

struct kymo_span *kymo_spans_innermost(struct kymo_spans *spans, uint64_t thread) {
  return first_of(spans, &spans->threads, (struct kymo_span_key){.thread = thread});
}

void kymo_spans_end(struct kymo_spans *spans, struct kymo_span *span) {
  pop(&spans->same, span->same_hash, span, span->same);
  if (spans->is_nested) {
    if (span->outer)
      span->outer->inner = span->inner;
    if (span->inner)
      span->inner->outer = span->outer;
    else
      pop(&spans->threads, span->thread_hash, span, span->outer);
  }
  if (spans->crosses_threads) {
    if (span->older)
      span->older->newer = span->newer;
    if (span->newer)
      span->newer->older = span->older;
    else
      pop(&spans->keys, span->key_hash, span, span->older);
  }
  span->same = spans->free;
  spans->free = span;
  spans->open--;
}

void kymo_spans_each(const struct kymo_spans *spans, kymo_span_handler *each, void *user) {
  for (uint32_t i = 0; i < spans->same.size; i++)
    for (struct kymo_span *span = (struct kymo_span *)spans->same.slots[i].item; span; span = span->same)
      if (!each(user, span))
        return;
}

void kymo_spans_free(struct kymo_spans *spans) {
  while (spans->blocks) {
    struct kymo_span_block *block = spans->blocks;
    spans->blocks = block->next;
    free(block);
  }
  kymo_hash_table_free(&spans->same);
  kymo_hash_table_free(&spans->threads);
  kymo_hash_table_free(&spans->keys);
  *spans = (struct kymo_spans){.is_nested = spans->is_nested, .crosses_threads = spans->crosses_threads};
}
