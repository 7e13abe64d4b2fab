/* SPDX-License-Identifier: MIT */
/*
 * kymo/schema.h: the schema: the meaning of the bytes of events.
 *
 *   trace ─┬─ environment, uuid, byte order
 *          ├─ clock classes
 *          └─ stream classes ─┬─ packet context, event header, common context
 *                             └─ event classes ── specific context, payload
 *
 * Whatever describes a trace (tracepoints, TSDL, JSON, CPEL, TDL, kernel format files) compiles to this
 * model; cursor, filters and sinks know nothing else.
 *
 * A schema is built once (kymo_builder_*, at the end of this file), lives in one arena, and is immutable and
 * thread-safe from then on. All pointers below belong to the schema and live as long as it.
 *
 * Programs compiled against an older version of libkymo go on working (tests/abi holds it):
 *
 *   - A struct that the library hands out by pointer is read-only. New members are appended.
 *   - A struct in the caller's memory travels with its size, so that the library reads and fills the members
 *     that the caller knows, and new members are appended too. The functions here are inline only for this:
 *     kymo_trace_tell passes sizeof(struct kymo_bookmark) to kymo_trace_tell_, the function of the library.
 *     So no program has to pass a size, and none can forget it. Other languages call kymo_trace_tell_ with
 *     their size.
 *   - Lists of structs that may grow are read one by one through functions, never as arrays.
 *   - What is passed or held by value never changes: struct kymo_error, kymo_hash, kymo_hashes, kymo_range,
 *     kymo_reference.
 */
#ifndef KYMO_SCHEMA_H
#define KYMO_SCHEMA_H

#include <kymo/c_type.h>
#include <kymo/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kymo_byte_order { KYMO_ORDER_LITTLE = 0, KYMO_ORDER_BIG = 1 };

/* The kinds of types. Scalars come before KYMO_KIND_STRING. */
enum kymo_type_kind {
  KYMO_KIND_INTEGER,       /* 1 to 64 bits at any bit offset, signed or not; with mappings an enumeration */
  KYMO_KIND_BOOLEAN,       /* an integer of which only zero or non-zero matters */
  KYMO_KIND_BITMAP,        /* an unsigned integer whose mappings name bits (ranges of bit numbers): flags */
  KYMO_KIND_FLOAT,         /* IEEE 754: 16, 32, 64 (80, 128 where described) bits */
  KYMO_KIND_VARINT,        /* LEB128, signed or not; with mappings an enumeration */
  KYMO_KIND_STRING,        /* ended by a zero element of the encoding */
  KYMO_KIND_TEXT_ARRAY,    /* fixed length in bytes, cut at the first zero element */
  KYMO_KIND_TEXT_SEQUENCE, /* length in bytes given by another field, cut at the first zero element */
  KYMO_KIND_BLOB_ARRAY,    /* fixed number of bytes */
  KYMO_KIND_BLOB_SEQUENCE, /* number of bytes given by another field */
  KYMO_KIND_ARRAY,         /* fixed number of elements */
  KYMO_KIND_SEQUENCE,      /* number of elements given by another field */
  KYMO_KIND_STRUCT,
  KYMO_KIND_VARIANT,  /* one of the members, chosen by another field */
  KYMO_KIND_OPTIONAL, /* the element is there if another field says so */
  KYMO_KIND_UNION,    /* all members begin at its first bit, none is marked as the valid one: they are of
                             constant size, and nothing in them refers to other fields */
};

enum kymo_encoding {
  KYMO_ENCODING_NONE,
  KYMO_ENCODING_ASCII,
  KYMO_ENCODING_UTF8,
  KYMO_ENCODING_UTF16LE,
  KYMO_ENCODING_UTF16BE,
  KYMO_ENCODING_UTF32LE,
  KYMO_ENCODING_UTF32BE,
};

/* The part of a packet or event that contains a field, in the order of their bytes. */
enum kymo_scope {
  KYMO_SCOPE_PACKET_HEADER,
  KYMO_SCOPE_PACKET_CONTEXT,
  KYMO_SCOPE_EVENT_HEADER,
  KYMO_SCOPE_COMMON_CONTEXT,
  KYMO_SCOPE_SPECIFIC_CONTEXT,
  KYMO_SCOPE_PAYLOAD,
  KYMO_SCOPE_COUNT,
};

/* The meaning of an integer (or the uuid) for the reader itself; bits of kymo_type.roles. */
enum kymo_role {
  KYMO_ROLE_MAGIC = 1 << 0,
  KYMO_ROLE_UUID = 1 << 1,
  KYMO_ROLE_STREAM_CLASS_ID = 1 << 2,
  KYMO_ROLE_STREAM_ID = 1 << 3,
  KYMO_ROLE_EVENT_CLASS_ID = 1 << 4,
  KYMO_ROLE_TIMESTAMP = 1 << 5,     /* begin of the packet, or time of the event: updates the clock */
  KYMO_ROLE_TIMESTAMP_END = 1 << 6, /* end of the packet */
  KYMO_ROLE_PACKET_SIZE = 1 << 7,
  KYMO_ROLE_CONTENT_SIZE = 1 << 8, /* both in bits */
  KYMO_ROLE_SEQUENCE_NUMBER = 1 << 9,
  KYMO_ROLE_DISCARDED = 1 << 10,
};

/* A named range of an enumeration, or of bit numbers of a bit map: kymo_mapping_get. */
struct kymo_mapping;
/* A member of a struct or union, an option of a variant: kymo_type_member_at, kymo_member_name … */
struct kymo_member;

/* Unnamed range; signed selectors: read as int64_t. */
struct kymo_range {
  uint64_t low, high;
};

/*
 * A field that another one depends on (length, tag, presence): the scope and the path in it. Step i is a
 * member index in a struct or an option index in a variant; KYMO_STEP_ELEMENT means "the element that the
 * dependent field is in" of an array, "inside" of an optional, and "the option that is there" of a variant:
 * the steps after it are those of the first option; in the other options they mean members of the same names.
 * The referenced field always precedes the dependent one.
 */
#define KYMO_STEP_ELEMENT UINT32_MAX
struct kymo_reference {
  enum kymo_scope scope;
  uint32_t depth;
  const uint32_t *steps;
};

struct kymo_type;

/*
 * The identity of a type or event class, independent of where it was described: 128 bits of MurmurHash3 over
 * its canonical form (docs/registry.md). Equal on every machine and in every process, whatever else is in the
 * schema.
 *
 *   `content` of a type   kind, name, width, sign, address, enumeration, base, encoding, roles, name of the
 *                         clock, unit, media type, attributes, length, mappings, selector, presence, the
 *                         element and the members (their names, attributes and ranges), whose own content
 *                         represents them
 *   `layout` of a type    the same, with the layout of its parts, and alignment, order of bits, and the byte
 *                         order of scalars that are not single aligned bytes
 *   of an event class     name, level, and the hash of its specific context and payload
 *
 * Not covered: ids, names of members in the source (TSDL's underscores), and other properties of an event
 * class.
 */
struct kymo_hash {
  uint64_t low, high;
};
struct kymo_hashes {
  struct kymo_hash content, layout;
};

struct kymo_type {
  enum kymo_type_kind kind;
  uint32_t id;         /* index in schema->types: equal structure = same id */
  uint32_t align_bits; /* power of two, from the packet's first bit; ≥ 1 */
  uint32_t size_bits; /* scalars but varints: width; BLOB_ARRAY, TEXT_ARRAY: 8 × length; UNION: of the whole;
                                   else 0 */
  enum kymo_byte_order order; /* scalars */
  bool bits_reversed;         /* CTF 2 bit-order contrary to the byte order's natural one */
  bool is_signed;
  uint8_t base;                   /* preferred print base: 2, 8, 10, 16; 0 = unspecified (10) */
  bool is_address;                /* pointer: print as such */
  enum kymo_encoding encoding;    /* texts; integers that are characters (text arrays of TSDL) */
  uint32_t roles;                 /* enum kymo_role */
  const struct kymo_clock *clock; /* the clock that KYMO_ROLE_TIMESTAMP* values belong to */
  const char *name;               /* name of the type in its source (alias, typedef, struct tag), or NULL */
  const char *unit;               /* or NULL */
  uint32_t mapping_count;         /* INTEGER, VARINT, BITMAP */
  const struct kymo_mapping *mappings;   /* for kymo_mapping_get */
  bool is_enumeration;                   /* an enumeration may have no mappings at all */
  uint64_t length;                       /* ARRAY: elements; TEXT_ARRAY, BLOB_ARRAY: bytes */
  const struct kymo_type *element;       /* ARRAY, SEQUENCE, OPTIONAL */
  uint32_t member_count;                 /* STRUCT, VARIANT, UNION */
  const struct kymo_member *members;     /* for kymo_type_member_at */
  struct kymo_reference selector;        /* SEQUENCE kinds: length; VARIANT: tag; OPTIONAL: presence */
  const struct kymo_type *selector_type; /* the referenced field's type */
  uint32_t presence_count;               /* OPTIONAL by integer: values that mean "present"; by boolean: 0 */
  const struct kymo_range *presence;
  const char *media_type;       /* blobs, or NULL */
  const char *attributes;       /* CTF 2 user attributes as JSON text, or NULL */
  struct kymo_hashes hashes;    /* set by the builder */
  const uint32_t *member_index; /* set by the builder, for kymo_type_member */
};

struct kymo_clock {
  const char *name, *description;
  uint64_t frequency;     /* Hz, > 0 */
  int64_t offset_seconds; /* value 0 of the clock is at offset_seconds + offset_cycles/frequency … */
  uint64_t offset_cycles; /* … seconds from its origin */
  uint64_t precision;     /* cycles */
  bool origin_is_epoch;   /* the origin is 1970-01-01T00:00:00Z */
  bool has_uuid;
  uint8_t uuid[16];
  const char *origin_namespace, *origin_name, *origin_uid; /* CTF 2 custom origin, or NULL */
  const char *attributes;
  uint32_t index; /* in schema->clocks; set by the builder */
  const char *id; /* CTF 2: the id of the clock class in the description, for errors; or NULL */
};

/* Log levels are those of syslog and LTTng (0 = emergency … 14 = debug); -1 = unspecified. */
struct kymo_event_class {
  uint64_t id;       /* as in the event header */
  uint32_t index;    /* in stream->events */
  const char *group; /* text before the first ':' of the full name, or "" */
  const char *name;  /* the whole name: "group:name", or a free one */
  int32_t level;
  const char *uri;         /* model.emf.uri, or NULL */
  const char *source_file; /* source location of the tracepoint, or NULL */
  uint32_t source_line;
  const char *template_text;                          /* print template, or NULL */
  const struct kymo_type *specific_context, *payload; /* structs, or NULL */
  const char *attributes;
  const struct kymo_stream_class *stream;
  const char *description;                     /* the meaning of the event, or NULL */
  struct kymo_hashes hashes;                   /* over name, level and fields; set by the builder */
  const struct kymo_event_class *next_version; /* the next class of the same name in this schema, or NULL */
};

/* All event classes of one group, of all streams. */
struct kymo_group {
  const char *name; /* "" for events without one */
  uint32_t id;      /* in schema->groups */
  uint32_t event_count;
  const struct kymo_event_class *const *events;
};

struct kymo_stream_class {
  uint64_t id;
  uint32_t index;                                                         /* in schema->streams */
  const char *name;                                                       /* or NULL */
  const struct kymo_type *packet_context, *event_header, *common_context; /* structs, or NULL */
  const struct kymo_clock *clock;                                         /* the default clock, or NULL */
  const struct kymo_event_class *const *events;                           /* in the order of description */
  uint32_t event_count;
  const char *attributes;
};

/* One "env" entry: a text, or an integer if `text` is NULL. */
struct kymo_environment {
  const char *name;
  const char *text;
  int64_t integer;
};

/* The basic C types of a machine, in the order of the arrays in kymo_machine. */
enum kymo_c_type {
  KYMO_C_CHAR,
  KYMO_C_SHORT,
  KYMO_C_INT,
  KYMO_C_LONG,
  KYMO_C_LONG_LONG,
  KYMO_C_POINTER,
  KYMO_C_SIZE_T,
  KYMO_C_OFF_T,
  KYMO_C_PTRDIFF_T,
  KYMO_C_FLOAT,
  KYMO_C_DOUBLE,
  KYMO_C_LONG_DOUBLE,
  KYMO_C_TYPE_COUNT,
};

#define KYMO_C_TYPES_MAX 32 /* more than there are: types may be added */

/* The machine that a trace was recorded on. */
struct kymo_machine {
  char name[32];      /* as uname -m says; ended by a zero */
  uint32_t page_size; /* bytes */
  bool char_is_signed;
  uint8_t sizes[KYMO_C_TYPES_MAX], alignments[KYMO_C_TYPES_MAX]; /* bytes, by enum kymo_c_type */
};

struct kymo_schema {
  enum kymo_byte_order order; /* of types that do not specify one */
  uint32_t major, minor;      /* of the description: 1.8, 2.0 … */
  bool has_uuid;
  uint8_t uuid[16];
  const char *trace_name;                /* or NULL */
  const struct kymo_type *packet_header; /* struct, or NULL */
  const struct kymo_environment *const *environment;
  uint32_t environment_count;
  const struct kymo_clock *const *clocks;
  uint32_t clock_count;
  const struct kymo_stream_class *const *streams;
  uint32_t stream_count;
  const struct kymo_type *const *types;
  uint32_t type_count; /* by id */
  const char *attributes;
  const struct kymo_machine *machine; /* or NULL: unspecified */
  const struct kymo_group *const *groups;
  uint32_t group_count; /* by id; made when the schema is finished */
  const uint8_t *plan;
  size_t plan_size; /* of a compiled description: the plan by which files of another format become such
                     * events; or NULL */
  struct kymo_hash plan_hash; /* hash of the plan, if reading the file added event classes; else zero */
};

/* ---- looking things up ---- */

/* The stream class with this id, or NULL. O(1). */
const struct kymo_stream_class *kymo_schema_stream(const struct kymo_schema *schema, uint64_t id);
/* The event class with this id in the stream class, or NULL. O(1). */
const struct kymo_event_class *kymo_stream_class_event(const struct kymo_stream_class *stream, uint64_t id);
/* The environment entry of this name, or NULL. */
const struct kymo_environment *kymo_schema_environment(const struct kymo_schema *schema, const char *name);
/* The member of this name in a struct, variant or union, or NULL; `type` may be NULL. O(1). */
const struct kymo_member *kymo_type_member(const struct kymo_type *type, const char *name);
/* The member at an index below type->member_count, or NULL. */
const struct kymo_member *kymo_type_member_at(const struct kymo_type *type, uint32_t index);
/* The name of a member as users see it, without the leading underscore of TSDL, and as it is written in the
 * description; NULL for NULL. */
const char *kymo_member_name(const struct kymo_member *member);
const char *kymo_member_source_name(const struct kymo_member *member);
const struct kymo_type *kymo_member_type(const struct kymo_member *member);
/* The selector values that choose this option of a variant. */
const struct kymo_range *kymo_member_ranges(const struct kymo_member *member, uint32_t *count);
/* CTF 2 user attributes as JSON text, or NULL. */
const char *kymo_member_attributes(const struct kymo_member *member);
/*
 * The name of the mapping at an index, which must be below type->mapping_count or
 * kymo_field.interpretation_count, and its range, to which both ends belong; `low` and `high` may be NULL. Of
 * signed types they are int64_t. Ranges of one name follow one another; ranges may overlap. Of a bit map they
 * are bit numbers, and number 64 + n says that bit n has to be 0 while the other bits of the name are 1.
 */
const char *kymo_mapping_get(const struct kymo_mapping *list, uint32_t index, uint64_t *low, uint64_t *high);
/* Adds a reference to the schema; returns it. Thread-safe. */
struct kymo_schema *kymo_schema_retain(struct kymo_schema *schema);
/* Drops a reference; the last one frees the schema. NULL is allowed. Thread-safe. */
void kymo_schema_release(struct kymo_schema *schema);

#define KYMO_ID_NONE UINT32_MAX
/* The type of this C or source name; any spelling is found ("long unsigned" is "unsigned long"). NULL: there
 * is none. If several types have the name, the one with the lowest id. O(1). */
const struct kymo_type *kymo_schema_lookup_type(const struct kymo_schema *schema, const char *name);
/* The id of a C type in a schema, kymo_schema_lookup_type_id(schema, unsigned long), or KYMO_ID_NONE.
 * O(1). */
#define kymo_schema_lookup_type_id(schema, ...) kymo_schema_type_id_((schema), #__VA_ARGS__)
uint32_t kymo_schema_type_id_(const struct kymo_schema *schema, const char *name);
/* The group of this name, or NULL; by id it is schema->groups[id]. O(1). */
const struct kymo_group *kymo_schema_lookup_group(const struct kymo_schema *schema, const char *name);
/* The first event class of this full name ("group:name") in any stream, or NULL; others follow by
 * next_version. O(1). */
const struct kymo_event_class *kymo_schema_lookup_event(const struct kymo_schema *schema, const char *name);
/* Spans: an event of one class begins a span, an event of another class ends it, in the same thread. Both
 * belong to one kind of span, named by the part of their names before "_begin" and "_end". The attribute
 * {"kymo.span": "begin"} or "end" marks them; registries and CTF 2 keep it. */
enum kymo_edge { KYMO_EDGE_NONE, KYMO_EDGE_BEGIN, KYMO_EDGE_END };
/* Whether the event begins or ends a span; then *length is the length of the span's name within class_->name.
 * `length` may be NULL. */
enum kymo_edge kymo_event_class_edge(const struct kymo_event_class *class_, size_t *length);
/* The print format of a scalar: one of c d u x o b p f, 's' for texts, 0 for anything else. */
char kymo_type_format(const struct kymo_type *type);
/* Writes a C type's name in its normal spelling into `out` (always NUL-ended; cut at `size`): "unsigned" and
 * "unsigned int" become "unsigned int", "long unsigned" "unsigned long", "char[16]" "char [16]". Returns
 * `out`. */
char *kymo_type_name_normalize(char *out, size_t size, const char *name);

/* ---- the binary form (docs/registry.md) ---- */

/* The schema as a registry, in the byte order of this machine. On success the caller owns *bytes and frees it
 * with free(). The same schema gives the same bytes. KYMO_E_MEMORY. */
int kymo_registry_write(const struct kymo_schema *schema, uint8_t **bytes, size_t *size,
                        struct kymo_error *error);
/*
 * Reads a registry of either byte order. `file` names the bytes in errors. On success the caller owns
 * *schema, which refers to nothing in `bytes`, and releases it with kymo_schema_release. KYMO_E_FORMAT with
 * the byte offset, KYMO_E_LIMIT, KYMO_E_MEMORY; KYMO_E_UNKNOWN if this is not a registry, or one of another
 * major version.
 */
int kymo_registry_read(struct kymo_schema **schema, const void *bytes, size_t size, const char *file,
                       struct kymo_error *error);

/*
 * One schema that has the types and event classes of `count` schemas, of several processes or versions of a
 * program. Event classes of one stream class with equal layout hash and print template become one, whose
 * other properties (id, description, source line) are those of the first; classes of equal name that differ
 * are kept as versions, in the order of `schemas`. A class whose id is taken gets the lowest one that no
 * class of any schema has. Stream classes are merged by id, clocks by name: times in a trace are converted by
 * the clocks of its own schema, not by these. Properties of a trace as a whole (uuid, name, machine,
 * attributes, environment) are kept if all schemas agree. On success the caller owns *out, which refers to
 * none of the schemas. KYMO_E_USAGE for no schemas, and for stream classes or packet headers that do not fit
 * together.
 */
int kymo_schema_merge(struct kymo_schema **out, const struct kymo_schema *const *schemas, size_t count,
                      struct kymo_error *error);

/* ---- clocks ---- */

/* Converts `cycles` of a clock to nanoseconds from its origin, rounded down, exact (128-bit intermediate);
 * saturates at INT64_MIN and INT64_MAX. Times of events of CTF (kymo_event.time_ns) are rounded differently,
 * see docs/viewing.md. */
int64_t kymo_clock_ns(const struct kymo_clock *clock, uint64_t cycles);

/* ---- building ---- */

/*
 *   builder = kymo_builder_new();
 *   type = kymo_builder_type(builder, &(struct kymo_type){...});      interned: equal types are one
 *   kymo_builder_stream(builder, &(struct kymo_stream_class){...}, &stream, error);
 *   kymo_builder_event(builder, stream, &(struct kymo_event_class){...}, NULL, error);
 *   schema = kymo_builder_finish(builder, error);                      validates everything
 *
 * What the structs handed over point to is not copied: texts, lists and the like come from kymo_builder_text,
 * kymo_builder_members, kymo_builder_mappings and kymo_builder_alloc, or are static. A builder belongs to one
 * thread.
 */
struct kymo_builder;

/* NULL if there is no memory. */
struct kymo_builder *kymo_builder_new(void);
/* Frees an unfinished builder; NULL is allowed. */
void kymo_builder_free(struct kymo_builder *builder);
/* Zeroed memory that lives as long as the schema, for ranges and steps. NULL when out of
 * memory. */
void *kymo_builder_alloc(struct kymo_builder *builder, size_t size);
/* A copy of a text that lives as long as the schema. NULL for NULL, and when out of memory. */
char *kymo_builder_text(struct kymo_builder *builder, const char *text);

/* Lists for a type: `count` empty members or mappings, and what each becomes. Names are not copied. NULL when
 * out of memory. */
struct kymo_member *kymo_builder_members(struct kymo_builder *builder, uint32_t count);
void kymo_member_set(struct kymo_member *list, uint32_t index, const char *name,
                     const struct kymo_type *type);
/* The selector values that choose this option of a variant, not copied. */
void kymo_member_set_ranges(struct kymo_member *list, uint32_t index, const struct kymo_range *ranges,
                            uint32_t count);
struct kymo_mapping *kymo_builder_mappings(struct kymo_builder *builder, uint32_t count);
void kymo_mapping_set(struct kymo_mapping *list, uint32_t index, const char *name, uint64_t low,
                      uint64_t high);

const struct kymo_type *kymo_builder_type_(struct kymo_builder *builder, const struct kymo_type *type,
                                           size_t size);
/* Interns a type: copies the struct (not the data that it points to, which must come from kymo_builder_alloc
 * or be static) and returns the one type of this structure. align_bits 0 means the natural minimum (1, or 8
 * for texts and blobs); a compound's alignment is raised to that of its parts. NULL when out of memory. */
static inline const struct kymo_type *kymo_builder_type(struct kymo_builder *builder,
                                                        const struct kymo_type *type) {
  return kymo_builder_type_(builder, type, sizeof *type);
}

/* The type of this name made so far, by any spelling, or NULL. O(1). */
const struct kymo_type *kymo_builder_lookup(const struct kymo_builder *builder, const char *name);
/*
 * The id of a C type by its name, kymo_builder_lookup_or_create_type_id(builder, pid_t): the id of the type
 * with this name, if it matches the compiler's C type (kind, width, sign, byte order, lengths); else the id
 * of a new type as on this machine. Accepts scalars (pointers are addresses, enumerations are integers; no
 * long double but one of 64 or 128 bits) and arrays of them of up to three dimensions (those of char are
 * texts); anything else does not compile. KYMO_ID_NONE when out of memory. GNU C11, C++11.
 */
#define kymo_builder_lookup_or_create_type_id(builder, ...) \
  KYMO_C_TYPE_ID_(kymo_c_refuse_(KYMO_C_IS_RIGHT_(__VA_ARGS__)), builder, #__VA_ARGS__, __VA_ARGS__)

/* Checks one interned type now, as kymo_builder_finish would (except where references lead), so that a
 * compiler can report the place in its text. */
int kymo_builder_check(const struct kymo_builder *builder, const struct kymo_type *type,
                       struct kymo_error *error);

struct kymo_clock *kymo_builder_clock_(struct kymo_builder *builder, const struct kymo_clock *clock,
                                       size_t size);
static inline struct kymo_clock *kymo_builder_clock(struct kymo_builder *builder,
                                                    const struct kymo_clock *clock) {
  return kymo_builder_clock_(builder, clock, sizeof *clock);
}
/* The schema under construction: set order, uuid, major, minor, trace_name, packet_header, machine here. */
struct kymo_schema *kymo_builder_schema(struct kymo_builder *builder);
int kymo_builder_environment_(struct kymo_builder *builder, const struct kymo_environment *entry,
                              size_t size);
static inline int kymo_builder_environment(struct kymo_builder *builder,
                                           const struct kymo_environment *entry) {
  return kymo_builder_environment_(builder, entry, sizeof *entry);
}
int kymo_builder_stream_(struct kymo_builder *builder, const struct kymo_stream_class *stream, size_t size,
                         struct kymo_stream_class **out, struct kymo_error *error);
/* KYMO_E_FORMAT for a second stream class with the same id; *out may be changed until kymo_builder_finish. */
static inline int kymo_builder_stream(struct kymo_builder *builder, const struct kymo_stream_class *stream,
                                      struct kymo_stream_class **out, struct kymo_error *error) {
  return kymo_builder_stream_(builder, stream, sizeof *stream, out, error);
}
int kymo_builder_event_(struct kymo_builder *builder, struct kymo_stream_class *stream,
                        const struct kymo_event_class *event, size_t size, struct kymo_event_class **out,
                        struct kymo_error *error);
static inline int kymo_builder_event(struct kymo_builder *builder, struct kymo_stream_class *stream,
                                     const struct kymo_event_class *event, struct kymo_event_class **out,
                                     struct kymo_error *error) {
  return kymo_builder_event_(builder, stream, event, sizeof *event, out, error);
}

/* Checks what every schema promises (references point to earlier integers, depth ≤ 64, widths, alignments,
 * mapping ranges), builds the lookups, and makes the schema immutable. The builder is freed in either case.
 * NULL on failure. */
struct kymo_schema *kymo_builder_finish(struct kymo_builder *builder, struct kymo_error *error);

#ifdef __cplusplus
}
#endif
#endif
