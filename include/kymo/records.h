/* SPDX-License-Identifier: MIT */
/*
 * kymo/records.h: the interface to find and order the records of a program's own files, for `kymo merge
 * --records ./mine.so`. A record reader is a shared object that exports one constant descriptor:
 *
 *   static int next_length(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
 *                          struct kymo_error *error) {
 *     *length = available < 2 ? 0 : bytes[0] | bytes[1] << 8;
 *     return KYMO_OK;
 *   }
 *   …
 *   const struct kymo_records kymo_records_plugin = {
 *       KYMO_RECORDS_ABI, .name = "mine", .next_length = next_length, .compare = compare,
 *   };
 *
 *   cc -shared -fPIC -o mine.so mine.c $(pkg-config --cflags kymo)
 *
 * It calls nothing of libkymo. examples/records.c is one.
 */
#ifndef KYMO_RECORDS_H
#define KYMO_RECORDS_H

#include <kymo/error.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when the meaning of an existing member changes. New members are appended; `size_bytes` shows
 * whether they are there. */
#define KYMO_RECORDS_ABI_VERSION 1
/* The first members of the descriptor. */
#define KYMO_RECORDS_ABI .abi_version = KYMO_RECORDS_ABI_VERSION, .size_bytes = sizeof(struct kymo_records)

/* All functions are called by one thread. Bytes are borrowed for the call. A function that returns a negative
 * status fills error->message with one line: what was expected and what was found; the caller fills in file
 * and offset. */
struct kymo_records {
  uint32_t abi_version, size_bytes; /* KYMO_RECORDS_ABI */
  const char *name;                 /* of what it reads, for messages */
  /*
   * Returns the length of the record that begins at `bytes`; `available` bytes are there, at least 1.
   * *length: more than available: the caller provides them; 0: the length cannot be found from so few bytes.
   * Negative: no record begins here, and the rest of this file is not read.
   */
  int (*next_length)(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
                     struct kymo_error *error);
  /* Negative: record a comes before b; positive: after it; 0: the order of the files, or within a file the
   * order of the records. */
  int (*compare)(void *state, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);
  /* The other functions may be NULL. As next_length, for the bytes before the first record of a file; 0 bytes
   * are possible, so a function that needs more bytes returns KYMO_AGAIN. The head of the first file that has
   * one is kept. */
  int (*head_length)(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
                     struct kymo_error *error);
  /* Called first: *state is passed to the other functions. `options` is the user's text after the ':', or
   * NULL. Without this function, options are refused. */
  int (*begin)(void **state, const char *options, struct kymo_error *error);
  /* Called last, if begin succeeded. */
  void (*end)(void *state);
};

/* The descriptor that a plug-in defines. */
extern const struct kymo_records kymo_records_plugin __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif
#endif
