/* SPDX-License-Identifier: MIT */
/* Print fmt as text: expressions, then what each conversion prints. */
#include "decode/kernel_message.h"
#include "decode/kernel_program.h"
#include "decode/load.h"
#include "decode/plan.h"
#include "schema/attribute.h"
#include "schema/message.h"
#include <string.h>

#define BPRINT "ftrace:bprint"

/* ---- binding ---- */

static uint32_t find_member(const void *user, const char *name, size_t length) {
  const struct kymo_type *payload = user;
  const struct kymo_member *member = kymo_member_named(payload, name, length);
  return member ? (uint32_t)(member - payload->members) : UINT32_MAX;
}

/* Nodes of a type and all below it, as in decode/layout.c. 0: too many, or of a kind that no format has. */
static uint32_t span_of(const struct kymo_type *type) {
  switch (type->kind) {
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE: return type->element->kind <= KYMO_KIND_FLOAT ? 2 : 0;
  case KYMO_KIND_STRUCT:
  case KYMO_KIND_VARIANT:
  case KYMO_KIND_OPTIONAL:
  case KYMO_KIND_UNION: return 0;
  default: return 1;
  }
}

static bool is_kernel(const struct kymo_event_class *class_) {
  const char *value = class_->attributes ? kymo_attribute_find(class_->attributes, KYMO_MESSAGE_KEY) : NULL;
  return class_->template_text && value &&
         strncmp(value, KYMO_MESSAGE_KERNEL_VALUE, strlen(KYMO_MESSAGE_KERNEL_VALUE)) == 0;
}

static uint32_t index_of(const struct kymo_type *payload, const char *name) {
  return find_member(payload, name, strlen(name));
}

static struct kymo_kernel_message *bind(struct kymo_arena *arena, const struct kymo_type *payload) {
  struct kymo_kernel_message *message = kymo_arena_alloc(arena, sizeof *message);
  uint32_t *nodes = kymo_arena_array(arena, payload->member_count + 1u, sizeof *nodes), next = 1;
  if (!message || !nodes)
    return NULL;
  for (uint32_t i = 0; i < payload->member_count; i++) {
    uint32_t span = span_of(payload->members[i].type);
    if (span == 0)
      return NULL;
    nodes[i] = next;
    next += span;
  }
  *message = (struct kymo_kernel_message){
      .nodes = nodes, .bprint_address = UINT32_MAX, .bprint_format = UINT32_MAX, .bprint_data = UINT32_MAX};
  return message;
}

static const struct kymo_type no_fields = {.kind = KYMO_KIND_STRUCT};

const struct kymo_kernel_message *kymo_kernel_message_new(struct kymo_arena *arena,
                                                          const struct kymo_event_class *class_,
                                                          enum kymo_kernel_style style) {
  const struct kymo_type *payload = class_->payload ? class_->payload : &no_fields;
  enum kymo_ftrace_rules rules =
      style == KYMO_KERNEL_AS_TRACE_CMD ? KYMO_FTRACE_OF_TRACE_CMD : KYMO_FTRACE_OF_KERNEL;
  struct kymo_kernel_message *message = is_kernel(class_) ? bind(arena, payload) : NULL;
  if (!message || kymo_ftrace_print_parse(&message->print, arena, class_->template_text, rules, find_member,
                                          payload, NULL) != KYMO_OK)
    return NULL;
  message->style = style;
  message->steps = kymo_kernel_compile(message, arena, payload);
  if (!message->steps)
    return NULL;
  if (strcmp(class_->name, BPRINT) == 0) {
    message->bprint_address = index_of(payload, "ip");
    message->bprint_format = index_of(payload, "fmt");
    message->bprint_data = index_of(payload, "buf");
  }
  return message;
}

const struct kymo_kernel_message *kymo_kernel_fields_new(struct kymo_arena *arena,
                                                         const struct kymo_event_class *class_) {
  struct kymo_kernel_message *message = bind(arena, class_->payload ? class_->payload : &no_fields);
  if (message)
    message->style = KYMO_KERNEL_AS_TRACE_CMD;
  return message;
}

/* ---- fields ---- */

struct kymo_kernel_bytes kymo_kernel_bytes_of(const struct kymo_kernel_printing *printing, uint32_t field) {
  const struct kymo_node *node = printing->root + printing->message->nodes[field];
  const struct kymo_decoder *decoder = printing->decoder;
  const struct kymo_type *type = node->type;
  uint64_t at = decoder->segments[node->segment] + node->offset_bits, size = type->size_bits / 8;
  struct kymo_kernel_bytes bytes = {.data = decoder->packet.data + at / 8, .element_size = 1};
  uint64_t count = node->selector_slot == KYMO_SLOT_NONE ? type->length : decoder->slots[node->selector_slot];
  uint64_t rest = at < decoder->packet.content_bits ? (decoder->packet.content_bits - at) / 8 : 0;
  switch (type->kind) {
  case KYMO_KIND_ARRAY:
  case KYMO_KIND_SEQUENCE:
    bytes.element_size = type->element->size_bits / 8;
    bytes.is_big = type->element->order == KYMO_ORDER_BIG;
    size = count * bytes.element_size;
    break;
  case KYMO_KIND_BLOB_ARRAY:
  case KYMO_KIND_BLOB_SEQUENCE:
    size = count;
    bytes.is_big = decoder->stream.part->schema->order == KYMO_ORDER_BIG;
    break;
  case KYMO_KIND_TEXT_ARRAY:
  case KYMO_KIND_TEXT_SEQUENCE: size = count; break;
  case KYMO_KIND_STRING: size = strnlen((const char *)bytes.data, (size_t)rest); break;
  default: bytes.is_big = type->order == KYMO_ORDER_BIG; break;
  }
  bytes.size = (size_t)(size < rest ? size : rest);
  return bytes;
}

uint64_t kymo_kernel_load(const uint8_t *from, unsigned size, bool is_big) {
  switch (size) {
  case 1: return *from;
  case 2: return is_big ? kymo_load_be16(from) : kymo_load_le16(from);
  case 4: return is_big ? kymo_load_be32(from) : kymo_load_le32(from);
  case 8: return is_big ? kymo_load_be64(from) : kymo_load_le64(from);
  default: return 0;
  }
}

/* ---- expressions ---- */

static uint64_t cast(const struct kymo_ftrace_node *node, uint64_t value, bool is_trace_cmd) {
  if (kymo_kernel_is_whole(node, is_trace_cmd))
    return value;
  value &= UINT64_MAX >> (64 - node->bits);
  return node->is_signed && !is_trace_cmd ? (uint64_t)kymo_sign_extend(value, node->bits) : value;
}

/* An element of an array: a[b], where a may be cast to a pointer to other elements. */
static struct kymo_kernel_number element_of(const struct kymo_kernel_printing *printing,
                                            const struct kymo_ftrace_node *node) {
  const struct kymo_ftrace_node *array = node->a, *type = NULL;
  uint64_t index = kymo_kernel_evaluate(printing, node->b).value;
  struct kymo_kernel_number number = {.is_unsigned = true};
  for (; array->kind == KYMO_FTRACE_CAST; array = array->a)
    type = type ? type : array;
  if (array->kind != KYMO_FTRACE_VALUE && array->kind != KYMO_FTRACE_FIELD)
    return number;
  struct kymo_kernel_bytes bytes = kymo_kernel_bytes_of(printing, array->field);
  unsigned size = bytes.element_size;
  uint64_t at;
  if (!printing->is_trace_cmd && type && type->bits)
    size = type->bits / 8;
  /* trace-cmd counts bytes where it should count elements of a dynamic array */
  bool is_bytes = printing->is_trace_cmd && array->kind == KYMO_FTRACE_VALUE;
  if (__builtin_mul_overflow(index, is_bytes ? 1 : size, &at) || at > bytes.size || size > bytes.size - at)
    return number;
  number.value = kymo_kernel_load(bytes.data + at, size, bytes.is_big);
  if (type && type->bits && type->bits < 64 && (type->is_pointer || !printing->is_trace_cmd)) {
    number.value &= UINT64_MAX >> (64 - type->bits);
    if (type->is_signed && !printing->is_trace_cmd)
      number.value = (uint64_t)kymo_sign_extend(number.value, type->bits);
  }
  number.is_unsigned = printing->is_trace_cmd || size == 8;
  return number;
}

static struct kymo_kernel_number operate(const struct kymo_kernel_printing *printing,
                                         const struct kymo_ftrace_node *node) {
  enum kymo_ftrace_operator operation = (enum kymo_ftrace_operator)node->operation;
  struct kymo_kernel_number a = kymo_kernel_evaluate(printing, node->a);
  bool is_comparison =
      operation <= KYMO_FTRACE_AND || (operation >= KYMO_FTRACE_EQUAL && operation <= KYMO_FTRACE_AT_LEAST);
  if (operation == KYMO_FTRACE_AND && !a.value)
    return (struct kymo_kernel_number){0};
  if (operation == KYMO_FTRACE_OR && a.value)
    return (struct kymo_kernel_number){.value = 1};
  struct kymo_kernel_number b = kymo_kernel_evaluate(printing, node->b);
  bool is_unsigned = a.is_unsigned || b.is_unsigned || printing->is_trace_cmd;
  if (printing->is_trace_cmd && operation == KYMO_FTRACE_BIT_XOR &&
      (node->a->kind != KYMO_FTRACE_NUMBER || node->b->kind != KYMO_FTRACE_NUMBER))
    return (struct kymo_kernel_number){0}; /* which it does not know */
  return (struct kymo_kernel_number){kymo_ftrace_operate(operation, a.value, b.value, !is_unsigned),
                                     is_unsigned && !is_comparison};
}

struct kymo_kernel_number kymo_kernel_evaluate(const struct kymo_kernel_printing *printing,
                                               const struct kymo_ftrace_node *node) {
  struct kymo_kernel_number a = {0};
  switch ((enum kymo_ftrace_node_kind)node->kind) {
  case KYMO_FTRACE_NUMBER: return (struct kymo_kernel_number){node->number, node->number > INT64_MAX};
  case KYMO_FTRACE_FIELD: return kymo_kernel_number_of(printing, node->field);
  case KYMO_FTRACE_CAST:
    a = kymo_kernel_evaluate(printing, node->a);
    a.value = cast(node, a.value, printing->is_trace_cmd);
    if (!printing->is_trace_cmd)
      a.is_unsigned = node->is_pointer || (!node->is_signed && (node->bits == 0 || node->bits == 64));
    return a;
  case KYMO_FTRACE_UNARY:
    a = kymo_kernel_evaluate(printing, node->a);
    a.value = kymo_ftrace_operate((enum kymo_ftrace_operator)node->operation, 0, a.value, !a.is_unsigned);
    return a;
  case KYMO_FTRACE_BINARY: return operate(printing, node);
  case KYMO_FTRACE_CONDITION:
    return kymo_kernel_evaluate(printing, kymo_kernel_evaluate(printing, node->a).value ? node->b : node->c);
  case KYMO_FTRACE_INDEX: return element_of(printing, node);
  case KYMO_FTRACE_LENGTH: {
    struct kymo_kernel_bytes bytes = kymo_kernel_bytes_of(printing, node->field);
    const struct kymo_node *field = printing->root + printing->message->nodes[node->field];
    a.value = bytes.size + (field->type->kind == KYMO_KIND_STRING); /* its zero counts */
    return a;
  }
  case KYMO_FTRACE_SIZE:
    a.value = node->field != UINT32_MAX ? kymo_kernel_bytes_of(printing, node->field).size
              : node->number            ? node->number
                                        : printing->long_size;
    return a;
  default: return a;
  }
}

/* ---- fields as trace-cmd prints them ---- */

static bool is_printable(const struct kymo_kernel_bytes *bytes) {
  for (size_t i = 0; i < bytes->size && bytes->data[i]; i++)
    if ((bytes->data[i] < ' ' || bytes->data[i] > '~') && (bytes->data[i] < '\t' || bytes->data[i] > '\r'))
      return false;
  return true;
}

/* Arrays of characters, and of what the kernel calls bytes. */
static bool is_text(const struct kymo_type *type) {
  if (type->kind == KYMO_KIND_STRING || type->kind == KYMO_KIND_TEXT_ARRAY)
    return true;
  const char *name = type->element && type->element->name ? type->element->name : "";
  return strstr(name, "char") || strstr(name, "u8") || strstr(name, "s8");
}

static void add_array(const struct kymo_type *type, const struct kymo_kernel_bytes *bytes,
                      struct kymo_strbuf *out) {
  if (is_text(type) && is_printable(bytes)) {
    kymo_strbuf_add(out, (const char *)bytes->data, strnlen((const char *)bytes->data, bytes->size));
    return;
  }
  kymo_strbuf_puts(out, "ARRAY[");
  for (size_t i = 0; i < bytes->size; i++)
    kymo_strbuf_printf(out, "%s%02x", i ? ", " : "", bytes->data[i]);
  kymo_strbuf_puts(out, "]");
}

static void add_number(const struct kymo_type *type, uint64_t value, struct kymo_strbuf *out) {
  bool is_long = type->name && strstr(type->name, "long");
  long long number = type->is_signed ? kymo_sign_extend(value, type->size_bits) : (int64_t)value;
  if (type->is_address || (is_long && (!type->is_signed || type->size_bits == 32)))
    kymo_strbuf_printf(out, "0x%llx", (unsigned long long)value);
  else if (type->is_signed)
    kymo_strbuf_printf(out, type->size_bits == 16 ? "%2lld" : "%lld", number);
  else
    kymo_strbuf_printf(out, "%llu", (unsigned long long)value);
}

static struct kymo_kernel_printing begin(const struct kymo_kernel_message *message,
                                         const struct kymo_event *event, struct kymo_strbuf *out) {
  struct kymo_decoder *decoder = kymo_decoder_of(event);
  const struct kymo_machine *machine = event->packet->stream->part->schema->machine;
  if (event->plan->is_constant)
    decoder->segments[event->plan->program.first_segment] = kymo_body_bits(event);
  else
    kymo_located(event);
  return (struct kymo_kernel_printing){.message = message,
                                       .decoder = decoder,
                                       .root = event->plan->payload,
                                       .kernel = decoder->kernel,
                                       .is_trace_cmd = message->style == KYMO_KERNEL_AS_TRACE_CMD,
                                       .long_size = machine ? machine->sizes[KYMO_C_LONG] : 8,
                                       .out = out};
}

bool kymo_kernel_message_add_fields(const struct kymo_kernel_message *message, const struct kymo_event *event,
                                    struct kymo_strbuf *out) {
  const struct kymo_kernel_printing printing = begin(message, event, out);
  const struct kymo_type *payload = event->class_->payload;
  for (uint32_t i = 0; payload && i < payload->member_count; i++) {
    const struct kymo_type *type = payload->members[i].type;
    struct kymo_kernel_bytes bytes = kymo_kernel_bytes_of(&printing, i);
    if (kymo_member_is_hidden(&payload->members[i]))
      continue;
    kymo_strbuf_printf(out, " %s=", payload->members[i].name);
    if (type->kind <= KYMO_KIND_BITMAP)
      add_number(type, kymo_kernel_number_of(&printing, i).value, out);
    else
      add_array(type, &bytes, out);
  }
  return !out->failed;
}

/* ---- the whole ---- */

bool kymo_kernel_message_add(const struct kymo_kernel_message *message, const struct kymo_event *event,
                             struct kymo_strbuf *out) {
  const struct kymo_kernel_printing printing = begin(message, event, out);
  if (message->bprint_format != UINT32_MAX && message->bprint_data != UINT32_MAX &&
      message->bprint_address != UINT32_MAX)
    kymo_kernel_print_binary(&printing);
  else
    kymo_kernel_run(&printing);
  return !out->failed;
}
