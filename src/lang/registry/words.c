/* SPDX-License-Identifier: MIT */
#include "lang/registry/words.h"

const char *const kymo_registry_scopes[KYMO_SCOPE_COUNT] = {
    "packet_header", "packet_context", "event_header", "common_context", "specific_context", "payload",
};

const char *const kymo_registry_roles[KYMO_ROLE_COUNT] = {
    "magic",         "uuid",        "stream_class_id", "stream_id",       "event_class_id", "timestamp",
    "timestamp_end", "packet_size", "content_size",    "sequence_number", "discarded",
};

const char *const kymo_registry_encodings[KYMO_ENCODING_COUNT] = {
    "none", "ascii", "utf8", "utf16le", "utf16be", "utf32le", "utf32be",
};

const char *const kymo_registry_c_types[KYMO_C_TYPE_COUNT] = {
    "char",   "short", "int",       "long",  "long_long", "pointer",
    "size_t", "off_t", "ptrdiff_t", "float", "double",    "long_double",
};
