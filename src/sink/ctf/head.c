/* SPDX-License-Identifier: MIT */
#include "sink/ctf/head.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <stdlib.h>

/* ---- where the numbers are ---- */

static bool is_number(const struct kymo_type *type) {
  return type->kind <= KYMO_KIND_BITMAP || type->kind == KYMO_KIND_VARINT;
}

static unsigned varint_bits(const uint8_t *from) {
  unsigned count = 1;
  while (*from++ & 0x80)
    count++;
  return count * 8;
}

static bool add_field(struct kymo_ctf_head *head, const struct kymo_node *node, uint64_t at_bits) {
  const struct kymo_type *type = node->type;
  bool is_varint = type->kind == KYMO_KIND_VARINT;
  struct kymo_ctf_fields *fields = &head->fields;
  if (fields->count == KYMO_CTF_FIELDS)
    return false;
  if (is_varint)
    at_bits = kymo_align_up(at_bits, type->align_bits);
  fields->roles |= type->roles;
  fields->list[fields->count++] =
      (struct kymo_ctf_field){.roles = type->roles,
                              .is_big = type->order == KYMO_ORDER_BIG,
                              .is_reversed = type->bits_reversed,
                              .at_bits = at_bits,
                              .is_varint = is_varint,
                              .width = is_varint ? varint_bits(head->bytes + at_bits / 8) : type->size_bits};
  return true;
}

static void put_uuid(struct kymo_ctf_head *head, const struct kymo_schema *schema, uint64_t at_bits) {
  for (unsigned i = 0; i < 16 && schema->has_uuid; i++)
    kymo_bits_put(head->bytes, at_bits + 8 * i, 8, false, schema->uuid[i]);
}

/* Numbers in variants, optionals and arrays have no roles that are written; nodes inside of these are
 * skipped. */
static bool find_fields(struct kymo_ctf_head *head, const struct kymo_pass *pass,
                        const struct kymo_node *root) {
  for (uint32_t i = 1; root && i < root->span;) {
    const struct kymo_node *node = &root[i];
    bool is_struct = node->type->kind == KYMO_KIND_STRUCT,
         has_role = node->type->roles && node->segment != KYMO_SEGMENT_NONE;
    uint64_t at_bits = has_role ? pass->notes.segments[node->segment] + node->offset_bits : 0;
    if (has_role && node->type->roles & KYMO_ROLE_UUID)
      put_uuid(head, pass->decoder->stream.part->schema, at_bits);
    else if (has_role && is_number(node->type) && !add_field(head, node, at_bits))
      return false;
    i += is_struct ? 1 : node->span;
  }
  return true;
}

static int make_room(struct kymo_ctf_head *head, uint64_t count, struct kymo_error *error) {
  if (count <= head->room)
    return KYMO_OK;
  uint8_t *bytes = realloc(head->bytes, (size_t)count);
  if (!bytes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  head->bytes = bytes;
  head->room = (size_t)count;
  return KYMO_OK;
}

int kymo_ctf_head_take(struct kymo_ctf_head *head, const struct kymo_pass *pass, struct kymo_error *error) {
  const struct kymo_schema_plan *plan = pass->decoder->schema_plan;
  uint64_t count = (pass->head.events_bits + 7) / 8;
  if (count > pass->bytes)
    count = pass->bytes;
  head->size_bits = pass->head.events_bits;
  head->fields = (struct kymo_ctf_fields){0};
  int status = make_room(head, count, error);
  if (status < 0)
    return status;
  if (count)
    memcpy(head->bytes, pass->head.packet.data, (size_t)count);
  if (find_fields(head, pass, plan->packet_header) &&
      find_fields(head, pass, pass->head.plan->packet_context))
    return KYMO_OK;
  return kymo_fail(error, KYMO_E_LIMIT, "%s: more than %d numbers with a meaning in a packet header",
                   pass->decoder->stream.path, KYMO_CTF_FIELDS);
}

/* ---- encoding ---- */

/* A number that kymo_ctf_schema_new added, unless there is another one with the role. */
static int encode_added(struct kymo_ctf_place *place, uint32_t role, uint64_t value,
                        enum kymo_byte_order order, struct kymo_error *error) {
  struct kymo_type type = {.roles = role, .order = order};
  struct kymo_ctf_number number = {value, 64, 8, order == KYMO_ORDER_BIG};
  if (place->fields->roles & role)
    return KYMO_OK;
  int status = kymo_ctf_encode_number(place, &number, error);
  return status == KYMO_OK ? kymo_ctf_note_field(place, &type, place->at_bits - number.width, error) : status;
}

int kymo_ctf_head_encode(struct kymo_ctf_head *head, const struct kymo_pass *pass, bool is_plain,
                         bool is_kernel, struct kymo_error *error) {
  struct kymo_decoder twin = *pass->decoder; /* reading is elsewhere */
  twin.packet = pass->head.packet;
  twin.packet.stream = &twin.stream;
  twin.plan = pass->head.plan;
  twin.segments = pass->notes.segments;
  twin.slots = pass->notes.slots;
  const struct kymo_node *context = twin.plan->packet_context;
  twin.context_bits = context ? twin.segments[context->segment] + context->offset_bits : 0;
  struct kymo_event event = {.packet = &twin.packet};
  struct kymo_ctf_files memory = {.capacity = SIZE_MAX};
  struct kymo_ctf_file file = {.files = &memory, .fd = -1};
  struct kymo_ctf_place place = {.file = &file, .is_plain = is_plain, .fields = &head->fields};
  const struct kymo_schema *schema = pass->decoder->stream.part->schema;
  head->fields = (struct kymo_ctf_fields){0};
  int status = kymo_ctf_encode_scope(&place, &event, KYMO_SCOPE_PACKET_HEADER, schema->packet_header, error);
  if (status == KYMO_OK && schema->stream_count > 1)
    status = encode_added(&place, KYMO_ROLE_STREAM_CLASS_ID, twin.plan->class_->id, schema->order, error);
  if (status == KYMO_OK)
    status = kymo_ctf_encode_scope(&place, &event, KYMO_SCOPE_PACKET_CONTEXT,
                                   twin.plan->class_->packet_context, error);
  if (status == KYMO_OK)
    status = encode_added(&place, KYMO_ROLE_CONTENT_SIZE, 0, schema->order, error);
  if (status == KYMO_OK)
    status = encode_added(&place, KYMO_ROLE_PACKET_SIZE, 0, schema->order, error);
  if (status == KYMO_OK && is_kernel)
    status = encode_added(&place, 0, pass->decoder->stream.instance, schema->order, error);
  head->size_bits = place.at_bits;
  if (status == KYMO_OK)
    status = make_room(head, file.length, error);
  if (status == KYMO_OK && file.length)
    memcpy(head->bytes, file.bytes, file.length);
  free(file.bytes);
  return status;
}

/* ---- changing them ---- */

static bool holds(const struct kymo_ctf_field *field, uint64_t value) {
  unsigned bits = field->is_varint ? field->width / 8 * 7 : field->width;
  bool wraps = field->roles & (KYMO_ROLE_TIMESTAMP | KYMO_ROLE_TIMESTAMP_END | KYMO_ROLE_SEQUENCE_NUMBER |
                               KYMO_ROLE_DISCARDED);
  return bits >= 64 || value >> bits == 0 || (wraps && !field->is_varint);
}

bool kymo_ctf_head_fits(const struct kymo_ctf_head *head, uint32_t role, uint64_t value) {
  for (unsigned i = 0; i < head->fields.count; i++)
    if (head->fields.list[i].roles & role && !holds(&head->fields.list[i], value))
      return false;
  return true;
}

/* As long as before: a varint may end in zeros. */
static void put_varint(uint8_t *to, unsigned count, uint64_t value) {
  for (unsigned i = 0; i < count; i++) {
    to[i] = (uint8_t)((value & 0x7f) | (i + 1 < count ? 0x80 : 0));
    value >>= 7;
  }
}

void kymo_ctf_head_put(struct kymo_ctf_head *head, uint32_t role, uint64_t value) {
  for (unsigned i = 0; i < head->fields.count; i++) {
    const struct kymo_ctf_field *field = &head->fields.list[i];
    if (!(field->roles & role))
      continue;
    if (field->is_varint)
      put_varint(head->bytes + field->at_bits / 8, field->width / 8, value);
    else
      kymo_bits_put(head->bytes, field->at_bits, field->width, field->is_big,
                    field->is_reversed ? kymo_bits_reverse(value, field->width) : value);
  }
}

void kymo_ctf_head_free(struct kymo_ctf_head *head) {
  free(head->bytes);
  *head = (struct kymo_ctf_head){0};
}
