/* SPDX-License-Identifier: MIT */
#include "sink/ctf/encode.h"
#include "base/fail.h"
#include "decode/load.h"
#include "decode/walk.h"
#include "print/unicode.h"

enum { PLAIN_BITS = 64, CHUNK_BYTES = 4096 };

static bool is_size(const struct kymo_type *type) {
  return type->roles & (KYMO_ROLE_PACKET_SIZE | KYMO_ROLE_CONTENT_SIZE);
}

/* What kymo_ctf_make_plain changes. */
static bool is_strange(const struct kymo_type *type) {
  return type->kind == KYMO_KIND_VARINT || (type->bits_reversed && type->size_bits <= 64) || is_size(type) ||
         (type->kind == KYMO_KIND_STRING && type->encoding > KYMO_ENCODING_UTF8);
}

static void align(struct kymo_ctf_place *place, uint32_t boundary) {
  place->at_bits = kymo_align_up(place->at_bits, boundary ? boundary : 1);
}

static int put_bits(struct kymo_ctf_place *place, uint64_t value, unsigned width, bool is_big,
                    struct kymo_error *error) {
  uint64_t first = place->at_bits / 8, end = (place->at_bits + width + 7) / 8;
  uint8_t *to = kymo_ctf_file_room(place->file, place->start + first, (size_t)(end - first), error);
  if (!to)
    return error->code;
  kymo_bits_put(to, place->at_bits % 8, width, is_big, value);
  place->at_bits += width;
  return KYMO_OK;
}

int kymo_ctf_encode_number(struct kymo_ctf_place *place, const struct kymo_ctf_number *number,
                           struct kymo_error *error) {
  align(place, number->align);
  return put_bits(place, number->value, number->width, number->is_big, error);
}

static int copy_bytes(struct kymo_ctf_place *place, const uint8_t *bytes, uint64_t count,
                      struct kymo_error *error) {
  while (count > 0) { /* not one large piece, since the next value may begin within a byte */
    uint64_t part = count < CHUNK_BYTES ? count : CHUNK_BYTES;
    int status = kymo_ctf_file_copy(place->file, place->start + place->at_bits / 8, bytes, part, error);
    if (status < 0)
      return status;
    place->at_bits += part * 8;
    bytes += part;
    count -= part;
  }
  return KYMO_OK;
}

/* The bits unchanged, in the order in which they are stored. */
static int copy_bits(struct kymo_ctf_place *place, const struct kymo_event *event, uint64_t from,
                     uint64_t end, bool is_big, struct kymo_error *error) {
  const uint8_t *data = event->packet->data;
  int status = KYMO_OK;
  if (place->at_bits % 8 == 0 && from % 8 == 0 && (end - from) % 8 == 0)
    return copy_bytes(place, data + from / 8, (end - from) / 8, error);
  for (uint64_t at = from; at < end && status == KYMO_OK;) {
    unsigned width = end - at < 64 ? (unsigned)(end - at) : 64;
    status = put_bits(place, kymo_fast_bits(data, at, width, is_big), width, is_big, error);
    at += width;
  }
  return status;
}

/* A union is stored unchanged: its alignment is that of all its members. */
static int copy_union(struct kymo_ctf_place *place, struct kymo_walk *walk, const struct kymo_value *value,
                      struct kymo_error *error) {
  const struct kymo_type *type = value->type;
  uint64_t from = walk->at_bits;
  struct kymo_value inner;
  for (uint32_t depth = walk->depth; walk->depth >= depth;)
    if (kymo_walk_next(walk, &inner) == KYMO_TOKEN_ERROR)
      break;
  return copy_bits(place, walk->event, from, from + type->size_bits, type->order == KYMO_ORDER_BIG, error);
}

static int encode_text(struct kymo_ctf_place *place, const struct kymo_value *value,
                       struct kymo_error *error) {
  const uint8_t *at = value->bytes, *end = value->bytes + value->count;
  int status = KYMO_OK;
  while (at < end && status == KYMO_OK) {
    char bytes[8];
    char *after = kymo_put_character(bytes, kymo_next_character(value->type->encoding, &at, end));
    status = copy_bytes(place, (const uint8_t *)bytes, (uint64_t)(after - bytes), error);
  }
  return status == KYMO_OK ? put_bits(place, 0, 8, false, error) : status;
}

static int encode_plain(struct kymo_ctf_place *place, const struct kymo_value *value,
                        const struct kymo_walk *walk, struct kymo_error *error) {
  const struct kymo_type *type = value->type;
  bool is_big = type->order == KYMO_ORDER_BIG;
  if (type->kind == KYMO_KIND_STRING)
    return encode_text(place, value, error);
  if (type->kind == KYMO_KIND_VARINT || is_size(type))
    return put_bits(place, value->u, PLAIN_BITS, is_big, error);
  uint64_t bits =
      kymo_fast_bits(walk->event->packet->data, walk->at_bits - type->size_bits, type->size_bits, is_big);
  return put_bits(place, kymo_bits_reverse(bits, type->size_bits), type->size_bits, is_big, error);
}

int kymo_ctf_note_field(struct kymo_ctf_place *place, const struct kymo_type *type, uint64_t from,
                        struct kymo_error *error) {
  struct kymo_ctf_fields *fields = place->fields;
  if (fields->count == KYMO_CTF_FIELDS)
    return kymo_fail(error, KYMO_E_LIMIT, "more than %d numbers with a meaning in a packet header",
                     KYMO_CTF_FIELDS);
  fields->roles |= type->roles;
  fields->list[fields->count++] = (struct kymo_ctf_field){.roles = type->roles,
                                                          .is_big = type->order == KYMO_ORDER_BIG,
                                                          .width = (unsigned)(place->at_bits - from),
                                                          .at_bits = from};
  return KYMO_OK;
}

/* `before`: the position of the walk before this step. */
static int encode(struct kymo_ctf_place *place, struct kymo_walk *walk, const struct kymo_value *value,
                  uint64_t before, struct kymo_error *error) {
  const struct kymo_type *type = value->type;
  align(place, type->align_bits);
  uint64_t to = place->at_bits, from = kymo_align_up(before, type->align_bits ? type->align_bits : 1);
  int status = place->is_plain && is_strange(type)
                   ? encode_plain(place, value, walk, error)
                   : copy_bits(place, walk->event, from, walk->at_bits, type->order == KYMO_ORDER_BIG, error);
  return status == KYMO_OK && place->fields && type->roles ? kymo_ctf_note_field(place, type, to, error)
                                                           : status;
}

/* Moves after a value that begins with this token. */
static void skip(struct kymo_walk *walk, enum kymo_token token) {
  struct kymo_value inner;
  for (uint32_t depth = walk->depth; token == KYMO_TOKEN_BEGIN && walk->depth >= depth;)
    if (kymo_walk_next(walk, &inner) == KYMO_TOKEN_ERROR)
      return;
}

static int encode_step(struct kymo_ctf_place *place, struct kymo_walk *walk, const struct kymo_value *value,
                       enum kymo_token token, uint64_t before, struct kymo_error *error) {
  if (token == KYMO_TOKEN_END || token == KYMO_TOKEN_ABSENT)
    return KYMO_OK;
  if (token != KYMO_TOKEN_BEGIN)
    return encode(place, walk, value, before, error);
  align(place, value->type->align_bits);
  return value->type->kind == KYMO_KIND_UNION ? copy_union(place, walk, value, error) : KYMO_OK;
}

int kymo_ctf_encode_walk(struct kymo_ctf_place *place, struct kymo_walk *walk,
                         bool (*wanted)(const struct kymo_member *member), struct kymo_error *error) {
  int status = KYMO_OK;
  while (status == KYMO_OK) {
    struct kymo_value value;
    uint64_t before = walk->at_bits;
    bool is_outermost = walk->depth == 1;
    enum kymo_token token = kymo_walk_next(walk, &value);
    if (token == KYMO_TOKEN_DONE)
      return KYMO_OK;
    if (token == KYMO_TOKEN_ERROR)
      return kymo_fail(error, KYMO_E_FORMAT, "a field of an event does not fit");
    if (wanted && is_outermost && !wanted(value.member))
      skip(walk, token);
    else
      status = encode_step(place, walk, &value, token, before, error);
  }
  return status;
}

int kymo_ctf_encode_scope(struct kymo_ctf_place *place, const struct kymo_event *event, enum kymo_scope scope,
                          const struct kymo_type *type, struct kymo_error *error) {
  struct kymo_walk walk;
  if (!type || !kymo_walk_begin(&walk, event, scope))
    return KYMO_OK;
  align(place, type->align_bits);
  return kymo_ctf_encode_walk(place, &walk, NULL, error);
}

int kymo_ctf_encode_bytes(struct kymo_ctf_place *place, const struct kymo_event *event, uint64_t from,
                          uint64_t end, struct kymo_error *error) {
  const uint8_t *bytes = event->packet->data + from / 8;
  uint64_t bits = end - from;
  int status = copy_bytes(place, bytes, bits / 8, error);
  if (status == KYMO_OK && bits % 8) /* the next value overwrites the excess bits */
    status = kymo_ctf_file_copy(place->file, place->start + place->at_bits / 8, bytes + bits / 8, 1, error);
  place->at_bits += bits % 8;
  return status;
}
