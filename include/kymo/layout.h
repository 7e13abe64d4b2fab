/* SPDX-License-Identifier: MIT */
/*
 * kymo/layout.h: the data that tracepoints leave in a program and in its rings, for whoever looks
 * at them from outside (kymo list PROGRAM, kymo record, kymo cat RINGS). Fixed widths, no
 * pointers: a descriptor is read from an ELF file as it is.
 */
#ifndef KYMO_LAYOUT_H
#define KYMO_LAYOUT_H

#include <stdint.h>

/* One tracepoint: static data of the call site, found through the section kymo_sites, whose entries
 * are two 32-bit offsets from themselves, to this struct and to its text: the macro's arguments as
 * written, a zero, the source file, a zero. A zero and `count` field codes follow the struct. */
struct kymo_tracepoint {
  uint32_t enabled; /* the one word that the hot path tests */
  uint32_t id;      /* event class id, once enabled */
  uint32_t line;
  uint16_t count;   /* fields */
  uint16_t flags;   /* KYMO_POINT_NAMED_ */
};
#define KYMO_POINT_NAMED_ 1u /* the first argument is the whole name */

/* A field code: type, kind, print base, count (BLOB_FIXED). */
#define KYMO_CODE_(kind, type, base, count)                                                                  \
  ((uint64_t)(type) | (uint64_t)(kind) << 8 | (uint64_t)(base) << 16 | (uint64_t)(count) << 32)
enum kymo_field_kind_ {
  KYMO_KIND_VALUE_, KYMO_KIND_STRN_, KYMO_KIND_BLOB_, KYMO_KIND_FIXED_, KYMO_KIND_ARRAY_,
};
/* Types: class in the high half, bytes in the low half. */
enum kymo_field_type_ {
  KYMO_TYPE_SIGNED_ = 0x10, KYMO_TYPE_UNSIGNED_ = 0x20, KYMO_TYPE_BOOL_ = 0x30, KYMO_TYPE_CHAR_ = 0x40,
  KYMO_TYPE_FLOAT_ = 0x50, KYMO_TYPE_POINTER_ = 0x60, KYMO_TYPE_TEXT_ = 0x70,
};

/* What readers outside see of a ring: the line that the hot path publishes to. Lies in the pool file. A word
 * is the count of events so far and an offset in the open packet, which is never larger than 64 KiB:
 * count << 16 | offset. Sixteen bits, since they are loaded and counted up in one instruction each. */
#define KYMO_PACKET_SIZE_MAX 65536u
struct kymo_ring_public {
  uint64_t word; /* the exact end of the last event */
  uint64_t last; /* the time of the last event */
};

#endif
