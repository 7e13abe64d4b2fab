/* SPDX-License-Identifier: MIT */
/*
 * Patterns of MATCHES and LIKE, and of names, matched in time linear in the text: all ways through the
 * pattern are followed at once, so there are no back references, and no lookahead or lookbehind.
 *
 *   MATCHES  . [a-z] [^…] [[:alpha:]] \d \w \s \D \W \S ( ) (?: ) | * + ? {n} {n,} {n,m} ^ $, characters of
 *            UTF-8; found anywhere
 *   LIKE     * ? [a-z] [!…]; the whole text
 *   glob     LIKE, and \ before a character that means itself
 *
 * A pattern has at most KYMO_REGEX_STEPS instructions, and groups nested to 64, so that memory and stack are
 * bounded whatever the pattern is. A compiled pattern is immutable. The caller of kymo_regex_matches passes
 * a cache, which keeps the computed steps: most bytes then cost one load. It begins small and grows with its
 * use.
 */
#ifndef KYMO_BASE_REGEX_H
#define KYMO_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_REGEX_STEPS 4096 /* most instructions of a pattern */

struct kymo_regex;
struct kymo_regex_memory;

/* NULL with *wrong, the message, and *at, the byte in the pattern; *wrong is NULL if memory ran out. */
struct kymo_regex *kymo_regex_new(const char *pattern, size_t length, const char **wrong, size_t *at);
struct kymo_regex *kymo_regex_new_like(const char *pattern, size_t length, const char **wrong, size_t *at);
struct kymo_regex *kymo_regex_new_glob(const char *pattern, size_t length, const char **wrong, size_t *at);
void kymo_regex_free(struct kymo_regex *regex);
/* The number of its instructions. */
uint32_t kymo_regex_steps(const struct kymo_regex *regex);

/* NULL: out of memory. `regex` must outlive it. */
struct kymo_regex_memory *kymo_regex_memory_new(const struct kymo_regex *regex);
void kymo_regex_memory_free(struct kymo_regex_memory *memory);
bool kymo_regex_matches(struct kymo_regex_memory *memory, const uint8_t *text, size_t length);

#endif
