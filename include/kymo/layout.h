/* SPDX-License-Identifier: MIT */
/*
 * kymo/layout.h: the data that tracepoints leave in a program and in its rings, for readers outside the
 * process (kymo list PROGRAM, kymo record, kymo cat RINGS). Fixed widths, no pointers: a descriptor is read
 * from an ELF file as it is.
 *
 * Programs contain code and data of these headers, and the library that they load may be newer. So the
 * structs that macros and inline functions of the recorder touch never change, not even at their end: those
 * of this header, of kymo/site.h, fields.h, types.h, build.h, counter.h, bprintf.h, define.h and of the lower
 * part of kymo/log.h. What is new gets a struct and a function of its own. Only structs that travel with
 * their size may grow (kymo_log_options, kymo_log_counts, kymo_definition_options). tests/abi holds it.
 */
#ifndef KYMO_LAYOUT_H
#define KYMO_LAYOUT_H

#include <stdint.h>

/* Functions of tracepoints are not instrumented by -finstrument-functions: an event of them would begin
 * within another one. */
#define KYMO_UNTRACED_ __attribute__((no_instrument_function))
#define KYMO_INLINE_ static inline __attribute__((always_inline, unused, no_instrument_function))
/* A function that the tracepoints of a source file share. */
#define KYMO_SHARED_ static __attribute__((noinline, unused, no_instrument_function))

/*
 * One tracepoint: static data of the call site, found through the section kymo_sites, whose entries are two
 * 32-bit offsets from themselves (in position-independent code of 32-bit machines: addresses, in
 * kymo_far_sites), to this struct and to its text: the macro's arguments as written, a zero, the source file,
 * a zero (KYMO_PRINTF has its format and a zero before the file). A zero and `count` field codes follow the
 * struct; after them are pointers to listings, one for each code whose type is KYMO_TYPE_LISTED_, in their
 * order.
 */
struct kymo_tracepoint {
  /* the one word that the hot path tests, as a whole */
  uint16_t enabled; /* recorded */
  uint16_t watched; /* number of attached debuggers and tracers (kymo/sdt.h) */
  uint32_t id;      /* event class id, once enabled */
  uint32_t line;
  uint16_t count; /* fields */
  uint16_t flags; /* KYMO_POINT_… */
};
#define KYMO_POINT_NAMED_ 1u    /* the first argument is the whole name */
#define KYMO_POINT_SAME_ 2u     /* the time is that of the thread's previous event */
#define KYMO_POINT_DECLARED_ 4u /* the argument after the name is the list of a function's parameters */
#define KYMO_POINT_BEGIN_ 8u    /* begins a span: the name continues with _begin … */
#define KYMO_POINT_END_ 16u     /* … or ends it: with _end */
#define KYMO_POINT_BARE_ 32u    /* the fields are those of another tracepoint: none is stored */
#define KYMO_POINT_PRINTF_ 64u  /* the argument after the name is a printf format */
#define KYMO_POINT_ERRNO_ \
  128u /* … which prints errno: an int, stored after the fields. Set before the tracepoint is enabled */

#define KYMO_POINT_LOG_ \
  256u /* represents a stream (kymo/log.h): enabled unless a user disables it; records nothing */

/* A field code: type, kind, print base, byte order or other format (bits 24 to 31), count (BLOB_FIXED). */
#define KYMO_CODE_(kind, type, base, count) \
  ((uint64_t)(type) | (uint64_t)(kind) << 8 | (uint64_t)(base) << 16 | (uint64_t)(count) << 32)
#define KYMO_CODE_LITTLE_ (UINT64_C(1) << 24)    /* stored as it is on the wire: little-endian … */
#define KYMO_CODE_BIG_ (UINT64_C(2) << 24)       /* … big-endian */
#define KYMO_CODE_CHARACTER_ (UINT64_C(4) << 24) /* print format c */
#define KYMO_CODE_ADDRESS_ (UINT64_C(8) << 24)   /* print format p */
#define KYMO_CODE_LONG_ (UINT64_C(16) << 24)     /* a long, where int or long long are as large */
#define KYMO_CODE_LATER_ (UINT64_C(32) << 24)    /* put in pieces (KYMO_BUILD): such fields come last */
#define KYMO_CODE_WIDE_ (UINT64_C(64) << 24) /* a pointer to wchar_t, which a format may print as a text */
/* How much of a text a format prints, in the place of the count: 0 all of it, else 1 + the precision, or one
 * of these. It is set before the call site is switched on. */
#define KYMO_LIMIT_GIVEN_ UINT32_MAX         /* the value of the field before it */
#define KYMO_LIMIT_ADDRESS_ (UINT32_MAX - 1) /* its address is printed and stored */
#define KYMO_LIMIT_WIDE_ (UINT32_MAX - 2)    /* all of a wide text; 0 there: its address is stored */
/* What the event's bytes are:
 *   VALUE      the scalar; a text and its zero; a listed type (below)
 *   STRN       a text and its zero
 *   BLOB       a 32-bit count, the bytes
 *   FIXED      `count` bytes
 *   ARRAY      a 32-bit count, the elements: scalars or a listed type
 *   CHARS      listings only: a char array, all of it; its length is the last dimension
 *   VARIANT    a tag of 32 bits (signed), then the option that it chooses, or nothing
 *   OPTIONAL   a byte, 0 or 1; if 1, what VALUE would be, or CHARS for an array of char
 *   LEVEL      nothing: `count` is the event's level
 *   ABOUT      nothing: the text as written says what the event means
 * Counts, tags and presence bytes are fields of their own in the schema, _NAME_length, _NAME_tag,
 * _NAME_present, before NAME. */
enum kymo_field_kind_ {
  KYMO_KIND_VALUE_,
  KYMO_KIND_STRN_,
  KYMO_KIND_BLOB_,
  KYMO_KIND_FIXED_,
  KYMO_KIND_ARRAY_,
  KYMO_KIND_CHARS_,
  KYMO_KIND_VARIANT_,
  KYMO_KIND_OPTIONAL_,
  KYMO_KIND_LEVEL_,
  KYMO_KIND_ABOUT_,
};
#define KYMO_ABOUT_MAX_ 512 /* bytes of a description, including its zero */
/* Levels have the numbers of syslog and LTTng. Spelled as in KYMO_LEVEL(debug). */
enum kymo_level_ {
  KYMO_LEVEL_emergency,
  KYMO_LEVEL_alert,
  KYMO_LEVEL_critical,
  KYMO_LEVEL_error,
  KYMO_LEVEL_warning,
  KYMO_LEVEL_notice,
  KYMO_LEVEL_info,
  KYMO_LEVEL_debug_system,
  KYMO_LEVEL_debug_program,
  KYMO_LEVEL_debug_process,
  KYMO_LEVEL_debug_module,
  KYMO_LEVEL_debug_unit,
  KYMO_LEVEL_debug_function,
  KYMO_LEVEL_debug_line,
  KYMO_LEVEL_debug,
};
/* Types: class in the high half, bytes in the low half. */
enum kymo_field_type_ {
  KYMO_TYPE_SIGNED_ = 0x10,
  KYMO_TYPE_UNSIGNED_ = 0x20,
  KYMO_TYPE_BOOL_ = 0x30,
  KYMO_TYPE_CHAR_ = 0x40,
  KYMO_TYPE_FLOAT_ = 0x50,
  KYMO_TYPE_POINTER_ = 0x60,
  KYMO_TYPE_TEXT_ = 0x70,
  KYMO_TYPE_LISTED_ = 0x80, /* struct, union, enum, flags, named scalar: the listing says what */
};

/* A type that the program has listed (KYMO_STRUCT_TYPE and its kin, kymo/types.h). Static data, reached from
 * the tracepoints that use it. What is stored of one:
 *   STRUCT    its members, packed, in the order of the listing
 *   UNION     all its bytes; members have no padding (checked when compiled)
 *   VARIANT   a union that is stored after a tag: the member that the tag chooses, packed
 *   ENUM, FLAGS, NAMED (a typedef of a scalar)   the integer or float, by `code` */
enum kymo_listing_kind_ {
  KYMO_LISTING_STRUCT_ = 1,
  KYMO_LISTING_UNION_,
  KYMO_LISTING_VARIANT_,
  KYMO_LISTING_ENUM_,
  KYMO_LISTING_FLAGS_,
  KYMO_LISTING_NAMED_,
};
#define KYMO_LISTED_DIMENSIONS_ 3
/* A member, an option (tag: its value), or an enumerator (tag: its value). */
struct kymo_listed {
  uint64_t code; /* 0 for enumerators */
  int64_t tag;
  uint32_t dimensions[KYMO_LISTED_DIMENSIONS_]; /* of a C array, outermost first; unused: 0 */
  uint32_t unused;
};
struct kymo_listing {
  uint32_t kind, count; /* enum kymo_listing_kind_; members */
  uint64_t code;        /* ENUM, FLAGS, NAMED: of the scalar */
  uint64_t size;        /* sizeof, bytes */
  const char *text;     /* the type as written, a zero, then the list as written, a zero */
  const struct kymo_listed *members;
  const struct kymo_listing *const *types; /* by member: its listing, or NULL */
};

/* The part of a ring that outside readers see: the line that the hot path publishes to. It is in the pool
 * file. A word is the count of events so far and an offset in the open packet, which is never larger than 64
 * KiB: count << 16 | offset. Sixteen bits, since one instruction loads or increments both. */
#define KYMO_PACKET_SIZE_MAX 65536u
struct kymo_ring_public {
  uint64_t word __attribute__((aligned(8))); /* the exact end of the last event; aligned, since i386 would
                                              * align to 4 */
  uint64_t last;                             /* the time of the last event */
};

#endif
