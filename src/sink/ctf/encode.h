/* SPDX-License-Identifier: MIT */
/*
 * Encodes fields again, one by one, where they cannot be copied: because their alignment changes, or because
 * TSDL cannot express their layout.
 */
#ifndef KYMO_SINK_CTF_ENCODE_H
#define KYMO_SINK_CTF_ENCODE_H

#include "sink/ctf/file.h"
#include <kymo/read.h>

enum { KYMO_CTF_FIELDS = 16 };

/* A number with roles in the head of a packet. */
struct kymo_ctf_field {
  uint32_t roles;
  bool is_big, is_reversed, is_varint;
  unsigned width;   /* bits; for a varint as stored in the packet */
  uint64_t at_bits; /* in the packet */
};

struct kymo_ctf_fields {
  uint32_t roles; /* of all */
  unsigned count;
  struct kymo_ctf_field list[KYMO_CTF_FIELDS];
};

/* Where the next field is stored. */
struct kymo_ctf_place {
  struct kymo_ctf_file *file;
  uint64_t start;                 /* of the packet in the file, bytes */
  uint64_t at_bits;               /* in the packet */
  bool is_plain;                  /* as schema.h describes for CTF 1.8 */
  struct kymo_ctf_fields *fields; /* NULL, or the list of numbers with roles */
};

/* A number of 1 to 64 bits at the place, which moves after it. */
struct kymo_ctf_number {
  uint64_t value;
  unsigned width, align;
  bool is_big;
};
int kymo_ctf_encode_number(struct kymo_ctf_place *place, const struct kymo_ctf_number *number,
                           struct kymo_error *error);
/* Adds a number of this type's roles and byte order to the list; it was stored from bit `from` up to the
 * place. */
int kymo_ctf_note_field(struct kymo_ctf_place *place, const struct kymo_type *type, uint64_t from,
                        struct kymo_error *error);
/* The fields of a walk that has just begun, up to its end. Of the outermost struct only members that are
 * `wanted`, or all if that is NULL. */
int kymo_ctf_encode_walk(struct kymo_ctf_place *place, struct kymo_walk *walk,
                         bool (*wanted)(const struct kymo_member *member), struct kymo_error *error);
/* A whole scope of an event, `type`, which may be NULL, at its alignment. */
int kymo_ctf_encode_scope(struct kymo_ctf_place *place, const struct kymo_event *event, enum kymo_scope scope,
                          const struct kymo_type *type, struct kymo_error *error);
/* The bytes between two bits of an event's packet, unchanged; both and the place begin at whole bytes. */
int kymo_ctf_encode_bytes(struct kymo_ctf_place *place, const struct kymo_event *event, uint64_t from,
                          uint64_t end, struct kymo_error *error);

#endif
