/* SPDX-License-Identifier: MIT */
/*
 * The query of a request, "begin=5&text=a%20b": untrusted bytes, of which only whole and sound ones are
 * taken. Handlers ask for what they need; the first thing that is missing or wrong is kept as a text for the
 * reply.
 */
#ifndef KYMO_SERVE_QUERY_H
#define KYMO_SERVE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUERY_BYTES = 8192, QUERY_PAIRS = 16 };

struct query {
  struct query_pair {
    const char *name, *value;
  } pairs[QUERY_PAIRS];
  size_t count;
  char error[160]; /* what was expected and what was found; "": nothing was wrong so far */
  char bytes[QUERY_BYTES + 1];
};

/* Takes the text after the '?' (NULL: there is none) apart. False with the error: it is too long, has too
 * many or repeated names, or is no UTF-8 or not encoded as it should be. */
bool query_parse(struct query *query, const char *text);
/* The value of a name, or NULL. It is the query's. */
const char *query_text(const struct query *query, const char *name);
/* The same; if there is none, this is an error. */
const char *query_need(struct query *query, const char *name);

/* Each returns false, with the error, if the value is absent, no number, or out of its range; `most` is the
 * highest that is taken. */
bool query_i64(struct query *query, const char *name, int64_t *out);
bool query_u64(struct query *query, const char *name, uint64_t most, uint64_t *out);
bool query_u32(struct query *query, const char *name, uint32_t most, uint32_t *out);
bool query_double(struct query *query, const char *name, double *out);
/* 0 or 1; absent: false. */
bool query_flag(struct query *query, const char *name, bool *out);
/* The place of the value in a list of words that ends with NULL; absent: 0. */
bool query_word(struct query *query, const char *name, const char *const *words, unsigned *out);
/* Pairs NUMBER:NUMBER with commas, up to `room` of them; the second may be negative. Absent: none. */
bool query_offsets(struct query *query, const char *name, uint32_t *numbers, int64_t *offsets, size_t room,
                   size_t *count);
/* Numbers with commas, 1 to `room` of them; with `seconds`, pairs "3:0". */
bool query_list(struct query *query, const char *name, uint32_t *out, uint32_t *seconds, size_t room,
                size_t *count);

#endif
