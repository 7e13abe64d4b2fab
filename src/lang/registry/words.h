/* SPDX-License-Identifier: MIT */
/* The words of the registry's text for values of the model; the writer and the parser share them. */
#ifndef KYMO_LANG_REGISTRY_WORDS_H
#define KYMO_LANG_REGISTRY_WORDS_H

#include <kymo/schema.h>

#define KYMO_ROLE_COUNT 11
#define KYMO_ENCODING_COUNT 7

extern const char *const kymo_registry_scopes[KYMO_SCOPE_COUNT];
extern const char *const kymo_registry_roles[KYMO_ROLE_COUNT]; /* by number of the bit */
extern const char *const kymo_registry_encodings[KYMO_ENCODING_COUNT];
extern const char *const kymo_registry_c_types[KYMO_C_TYPE_COUNT];

#endif
