/* SPDX-License-Identifier: MIT */
/*
 * Spans: pairs of begin and end, last in, first out.
 *
 *   (thread, key) ──► the latest open span ──same──► the one opened before it, …
 *   thread        ──► the innermost open span ──outer──► the one around it, …      (if `is_nested`)
 *   key           ──► the latest open span ──older──► of any thread, …             (if `crosses_threads`)
 *
 * An end belongs to the latest open begin of its key in its thread: recursion and nesting pair correctly, and
 * spans of different keys may overlap. What a key and a thread are is up to the caller. Memory is that of the
 * spans that are open at the same time; each call takes constant time. A struct kymo_spans is used by one
 * thread at a time.
 */
#ifndef KYMO_SPAN_SPANS_H
#define KYMO_SPAN_SPANS_H

#include "base/table.h"

struct kymo_span_key {
  uint64_t thread, key;
};

/* An open span. */
struct kymo_span {
  struct kymo_span_key key;
  /* the caller's, zeroed when it begins */
  int64_t begin_ns;
  uint64_t begin_number; /* of the event */
  int64_t inside_ns;     /* how long spans inside of it took */
  int64_t last_ns;       /* time of its last event */
  uint64_t loss;         /* the number of losses before it */
  uint32_t stream;       /* the number of the event's stream */
  uint32_t track, lane;  /* where it is drawn */
  void *owner;
  int64_t tid;            /* of the thread that began it … */
  bool has_tid, is_epoch; /* is_epoch: begin_ns is a time of day */
  char thread[32];        /* … and its name, ended by a zero if it is shorter; bytes of the trace */
  /* the table's; to be read only */
  struct kymo_span *same;          /* the previous one of its thread and key */
  struct kymo_span *outer, *inner; /* of its thread */
  struct kymo_span *older, *newer; /* of its key */
  uint32_t same_hash, thread_hash, key_hash;
};

/* The hash of a key, computed before. */
struct kymo_span_hash {
  struct kymo_span_key key;
  uint32_t hash;
  bool is_set;
};
#define KYMO_SPAN_HASHES_LOG2 5

struct kymo_spans {
  /* set by the caller before the first begin */
  bool is_nested;       /* outer and inner are kept, for kymo_spans_innermost */
  bool crosses_threads; /* older and newer are kept, for kymo_spans_find_elsewhere */
  /* for reading */
  size_t open; /* how many are open */
  /* private */
  struct kymo_hash_table same, threads, keys; /* the latest span of a thread and key, a thread, a key */
  struct kymo_span_hash hashes[1 << KYMO_SPAN_HASHES_LOG2]; /* of few keys: most traces have few threads */
  struct kymo_span *free;
  struct kymo_span_block *blocks;
};

/* Begins a span. The table owns it, until kymo_spans_end. NULL: out of memory. */
struct kymo_span *kymo_spans_begin(struct kymo_spans *spans, struct kymo_span_key key);
/* The span that an end of this thread and key ends; NULL: none is open. */
struct kymo_span *kymo_spans_find(struct kymo_spans *spans, struct kymo_span_key key);
/* The latest open span of a key, whatever its thread; NULL: none is open. */
struct kymo_span *kymo_spans_find_elsewhere(struct kymo_spans *spans, uint64_t key);
/* The latest open span of a thread, whatever its key; NULL: none is open. */
struct kymo_span *kymo_spans_innermost(struct kymo_spans *spans, uint64_t thread);
/* Removes a span that one of the functions above has returned; the pointer is invalid then. */
void kymo_spans_end(struct kymo_spans *spans, struct kymo_span *span);
/* Calls `each` for all open spans, in no order, until it returns false; it must not change the table. */
typedef bool kymo_span_handler(void *user, struct kymo_span *span);
void kymo_spans_each(const struct kymo_spans *spans, kymo_span_handler *each, void *user);
/* Frees all; open spans are forgotten. The table is empty and usable again. */
void kymo_spans_free(struct kymo_spans *spans);

#endif
