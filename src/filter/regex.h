/* SPDX-License-Identifier: MIT */
/*
 * Patterns of MATCHES and LIKE, matched in time linear in the text: all ways through the pattern are followed at once, so
 * there are no back references and nothing to look back for.
 *
 *   MATCHES  . [a-z] [^…] \d \w \s \D \W \S  ( ) (?: ) |  * + ? {n} {n,} {n,m}  ^ $, characters of UTF-8; found anywhere
 *   LIKE     * ? [a-z] [!…]; the whole text
 *
 * A compiled pattern is immutable. Who matches brings a memory, in which steps that were worked out are kept: most
 * bytes then cost one load.
 */
#ifndef KYMO_FILTER_REGEX_H
#define KYMO_FILTER_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_REGEX_STEPS 4096 /* most instructions of a pattern */

struct kymo_regex;
struct kymo_regex_memory;

/* NULL with *wrong, what it says there, and *at, the byte in the pattern; *wrong NULL: out of memory. */
struct kymo_regex *kymo_regex_new(const char *pattern, size_t length, const char **wrong, size_t *at);
struct kymo_regex *kymo_regex_new_like(const char *pattern, size_t length, const char **wrong, size_t *at);
void kymo_regex_free(struct kymo_regex *regex);

/* NULL: out of memory. `regex` must outlive it. */
struct kymo_regex_memory *kymo_regex_memory_new(const struct kymo_regex *regex);
void kymo_regex_memory_free(struct kymo_regex_memory *memory);
bool kymo_regex_matches(struct kymo_regex_memory *memory, const uint8_t *text, size_t length);

#endif
