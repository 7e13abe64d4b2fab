/* SPDX-License-Identifier: MIT */
/*
 * kymo/records.h: how the records of a program's own files are told apart and put in order, for
 * `kymo merge --records ./mine.so`. A record reader is a shared object that exports one constant descriptor:
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

/* Raised when what is here changes its meaning. What is added comes behind, and is told by the size. */
#define KYMO_RECORDS_ABI_VERSION 1
/* The first members of the descriptor. */
#define KYMO_RECORDS_ABI .abi_version = KYMO_RECORDS_ABI_VERSION, .size_bytes = sizeof(struct kymo_records)

/* All functions are called by one thread. Bytes are borrowed for the call. Who returns a negative status
 * fills error->message with what was expected and found, in one line; file and offset are put by the
 * caller. */
struct kymo_records {
  uint32_t abi_version, size_bytes; /* KYMO_RECORDS_ABI */
  const char *name;                 /* of what it reads, for messages */
  /*
   * How many bytes the record has that begins at `bytes`; `available` are there, 1 at least. *length: more
   * than there are: they are asked for; 0: it cannot be told from so few. Negative: no record begins here,
   * and nothing more of this file is read.
   */
  int (*next_length)(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
                     struct kymo_error *error);
  /* Negative: record a comes before b; positive: behind it; 0: in the order of the files, or that within a
   * file. */
  int (*compare)(void *state, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);
  /* The others may be NULL. As next_length, of what stands before the first record of a file; 0 bytes is
   * possible, so that a head of which more must be seen is told by KYMO_AGAIN. The head of the first file
   * that has one is kept. */
  int (*head_length)(void *state, const uint8_t *bytes, size_t available, uint64_t *length,
                     struct kymo_error *error);
  /* Before all: *state is what the others get. `options` is what the user wrote behind the ':', or NULL.
   * Without it, options are refused. */
  int (*begin)(void **state, const char *options, struct kymo_error *error);
  /* After all, if begin succeeded. */
  void (*end)(void *state);
};

/* What a plug-in defines. */
extern const struct kymo_records kymo_records_plugin __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif
#endif
