/* SPDX-License-Identifier: MIT */
#include "sink/cpel/class.h"
#include "base/fail.h"
#include "decode/message.h"
#include <inttypes.h>
#include <stdlib.h>

static int no_memory(struct kymo_error *error) { return kymo_fail(error, KYMO_E_MEMORY, "out of memory"); }

/* ---- formats that all of VPP's tools take ---- */

/* Contains at most one number, without a length. cpeldump treats an s anywhere after a percent sign as a
 * string, g2 one that is the second character after blanks; both then read memory at the number. */
static bool vpp_takes(const char *format) {
  const char *percent = strchr(format, '%'), *text = format + strspn(format, " ");
  if (*text && text[1] == 's')
    return false;
  if (!percent)
    return true;
  const char *letter = percent + 1 + strspn(percent + 1, "-+ #0123456789.");
  return *letter && strchr("diuoxXc", *letter) && !strchr(letter, '%') && !strchr(percent, 's');
}

/* ---- events that were CPEL ---- */

/* The format of events that have only track and datum; NULL for others. */
static const char *own_format(const struct kymo_event_class *class_) {
  const struct kymo_type *payload = class_->payload;
  if (!kymo_cpel_has_datum(class_))
    return NULL;
  if (class_->template_text)
    return class_->template_text;
  bool has_number = kymo_type_member(payload, "datum"), has_text = kymo_type_member(payload, "text");
  if (kymo_type_member(payload, "symbol"))
    return has_text ? NULL : "%k";
  return has_number && has_text ? NULL : has_text ? "%s" : has_number ? "%u" : NULL;
}

static enum kymo_cpel_how choose_own(const struct kymo_cpel_classes *classes,
                                     const struct kymo_cpel_class *class_, const char *format) {
  bool shows_text = false, shows_symbol = false, shows_number = false;
  for (size_t i = 0; i < class_->datum.format.count; i++) {
    char conversion = class_->datum.format.pieces[i].conversion;
    shows_text |= conversion == 's';
    shows_symbol |= conversion == 'k';
    shows_number |= conversion && !strchr("%sk", conversion);
  }
  if (shows_symbol)
    return classes->keeps_symbols && !shows_text ? KYMO_CPEL_SYMBOL : KYMO_CPEL_FORMATTED;
  if (shows_text)
    return shows_number || (classes->for_vpp && strcmp(format, "%s") != 0) ? KYMO_CPEL_FORMATTED
                                                                           : KYMO_CPEL_TEXT;
  if (class_->datum.number == KYMO_FIELD_NONE)
    return KYMO_CPEL_NOTHING;
  return classes->for_vpp && !vpp_takes(format) ? KYMO_CPEL_FORMATTED : KYMO_CPEL_NUMBER;
}

/* Whether the class is one of those; then its format is set to the one that is written. */
static bool make_own(struct kymo_cpel_classes *classes, struct kymo_cpel_class *class_,
                     const struct kymo_event *event, const char **format) {
  struct kymo_printfmt_fault fault;
  struct kymo_arena *arena = &classes->fields.print.arena;
  *format = own_format(event->class_);
  if (!*format ||
      !kymo_cpel_datum_begin(&class_->datum, arena, classes->trace, event->class_, *format, &fault))
    return false;
  class_->number = class_->datum.number;
  class_->how = choose_own(classes, class_, *format);
  class_->text = class_->how == KYMO_CPEL_SYMBOL ? class_->datum.symbol : class_->datum.text;
  if (class_->how == KYMO_CPEL_FORMATTED)
    *format = "%s";
  return true;
}

/* ---- other events ---- */

/* Marks the contexts that the track expresses. */
static void set_said(const struct kymo_cpel_classes *classes, struct kymo_cpel_class *class_,
                     const struct kymo_event *event, const struct kymo_who *who) {
  const struct kymo_type *context = event->class_->stream->common_context;
  switch (classes->by) {
  case KYMO_CPEL_BY_THREAD: class_->says = KYMO_TEXT_SAYS_THREAD; break;
  case KYMO_CPEL_BY_CPU: class_->says = KYMO_TEXT_SAYS_CPU; break;
  case KYMO_CPEL_BY_FIELD: break;
  default:
    if (kymo_type_member(context, "track"))
      class_->says_member = "track";
    else
      class_->says = who->has_tid ? KYMO_TEXT_SAYS_THREAD : KYMO_TEXT_SAYS_CPU;
  }
}

/* The format of the only field, an integer of one word; false if the field is different, or cannot be
 * expressed. */
static bool format_number(const struct kymo_cpel_classes *classes, const struct kymo_type *type,
                          const char *name, struct kymo_strbuf *format) {
  bool is_plain = kymo_cpel_is_word(type) && !type->mapping_count && !type->is_enumeration &&
                  (type->encoding == KYMO_ENCODING_NONE || type->is_address);
  unsigned base = type->is_address ? 16 : type->base ? type->base : 10;
  struct kymo_strbuf shown = {0};
  if (!is_plain || base == 2)
    return false;
  kymo_text_add_name(&shown, name);
  for (size_t i = 0; i < shown.length; i++)
    kymo_strbuf_add(format, shown.text[i] == '%' ? "%%" : shown.text + i, shown.text[i] == '%' ? 2 : 1);
  kymo_strbuf_puts(format, base == 16        ? " = 0x%x"
                           : base == 8       ? " = %#o"
                           : type->is_signed ? " = %d"
                                             : " = %u");
  format->failed |= shown.failed;
  kymo_strbuf_free(&shown);
  return !format->failed && (!classes->for_vpp || vpp_takes(format->text));
}

static int make_script(struct kymo_cpel_classes *classes, struct kymo_cpel_class *class_,
                       const struct kymo_event *event, struct kymo_error *error) {
  struct kymo_print *print = &classes->fields.print;
  struct kymo_scripting script;
  struct kymo_text_shape shape = {.facts = ""};
  kymo_script_begin(&script, &print->style, &print->names, &print->arena, event);
  kymo_text_script_fields(&classes->fields, &script, event, &shape);
  class_->script = kymo_script_finish(&script);
  return class_->script.steps && !print->arena.failed ? KYMO_OK : no_memory(error);
}

static int make_other(struct kymo_cpel_classes *classes, struct kymo_cpel_class *class_,
                      const struct kymo_event *event, const char **format, struct kymo_error *error) {
  const struct kymo_type *payload = event->class_->payload;
  uint32_t members = payload ? payload->member_count : 0;
  const struct kymo_who *who = kymo_who_of(&classes->fields.print.whos, event);
  struct kymo_strbuf text = {0};
  if (!who)
    return no_memory(error);
  set_said(classes, class_, event, who);
  classes->fields.says = class_->says;
  classes->fields.says_member = class_->says_member;
  uint32_t contexts = kymo_text_context_count(&classes->fields, event);
  *format = "%s";
  bool has_message = kymo_message_new(&classes->fields.print.arena, event->class_) != NULL;
  class_->how = members + contexts || has_message ? KYMO_CPEL_FIELDS : KYMO_CPEL_NOTHING;
  if (class_->how == KYMO_CPEL_NOTHING)
    *format = "";
  if (members == 1 && contexts == 0 && !has_message &&
      format_number(classes, payload->members->type, payload->members->name, &text)) {
    const struct kymo_type *type = payload->members->type;
    class_->how = KYMO_CPEL_NUMBER;
    class_->number = kymo_field_id(classes->trace, event->class_, payload->members->name);
    class_->is_cut = !type->is_signed || type->is_address || (type->base && type->base != 10);
    class_->bits = type->size_bits;
    *format = kymo_arena_copy(&classes->all.arena, text.text, text.length);
  }
  kymo_strbuf_free(&text);
  if (!*format)
    return no_memory(error);
  return class_->how == KYMO_CPEL_FIELDS ? make_script(classes, class_, event, error) : KYMO_OK;
}

/* ---- classes ---- */

static int define(struct kymo_cpel_classes *classes, struct kymo_cpel_class *class_,
                  const struct kymo_event_class *from, const char *format, struct kymo_error *error) {
  struct kymo_strbuf key = {0};
  struct kymo_cpel_definition *definition = NULL;
  if (from->name && *from->name)
    kymo_strbuf_puts(&key, from->name);
  else
    kymo_strbuf_printf(&key, "event%" PRIu64, from->id);
  size_t name_length = key.length;
  kymo_strbuf_add(&key, "", 1);
  kymo_strbuf_puts(&key, format);
  if (!key.failed)
    definition = kymo_cpel_define(&classes->all, key.text, key.length, from->id);
  if (definition && !definition->format) {
    definition->format = kymo_cpel_literal(&classes->all, key.text, name_length);
    definition->datum_format = kymo_arena_copy(&classes->all.arena, format, strlen(format));
  }
  kymo_strbuf_free(&key);
  if (!definition || !definition->format || !definition->datum_format)
    return no_memory(error);
  class_->code = definition->number;
  return KYMO_OK;
}

static int make_class(struct kymo_cpel_classes *classes, const struct kymo_event *event,
                      struct kymo_cpel_class **out, struct kymo_error *error) {
  struct kymo_cpel_class *class_ = kymo_arena_alloc(&classes->fields.print.arena, sizeof *class_);
  const char *format = NULL;
  int status = class_ ? KYMO_OK : no_memory(error);
  if (status == KYMO_OK && !make_own(classes, class_, event, &format))
    status = make_other(classes, class_, event, &format, error);
  if (status == KYMO_OK)
    status = define(classes, class_, event->class_, format, error);
  if (status == KYMO_OK)
    *out = class_;
  return status;
}

/* ---- values ---- */

/* The location of the printed string, which may have been longer than the buffer. */
static int take_text(struct kymo_cpel_classes *classes, uint64_t flushes, struct kymo_cpel_value *value,
                     struct kymo_error *error) {
  struct kymo_out *out = &classes->fields.print.out;
  value->text = out->data;
  value->length = (size_t)(out->at - out->data);
  if (out->flushes != flushes) {
    kymo_out_flush(out);
    if (fflush(classes->memory) != 0 || out->error_number)
      return no_memory(error);
    value->text = classes->memory_text;
    value->length = classes->memory_size;
    rewind(classes->memory);
  }
  out->at = out->data;
  return kymo_out_check(out, error);
}

/* "name+0x1c" of a value: the name is 0x1c below it. */
static int add_symbol(struct kymo_cpel_classes *classes, const struct kymo_event *event,
                      const struct kymo_cpel_class *class_, uint32_t number, struct kymo_error *error) {
  const uint8_t *bytes;
  uint64_t length, at, offset = 0;
  if (kymo_event_get_bytes(event, class_->text, &bytes, &length) != KYMO_OK)
    return KYMO_OK;
  const char *text = (const char *)bytes;
  for (at = length; at > 0 && (at + 3 > length || memcmp(text + at, "+0x", 3) != 0); at--)
    ;
  if (at == 0)
    return KYMO_OK; /* there is no symbol below */
  for (uint64_t i = at + 3; i < length; i++) {
    const char *digit = memchr("0123456789abcdef", text[i], 16);
    if (!digit || offset > number)
      return KYMO_OK;
    offset = offset << 4 | (uint64_t)(digit - "0123456789abcdef");
  }
  if (offset > number)
    return KYMO_OK;
  uint32_t place = number - (uint32_t)offset;
  struct kymo_cpel_definition *symbol = kymo_cpel_define(&classes->symbols, text, (size_t)at, place);
  if (symbol && !symbol->format)
    symbol->format = symbol->key;
  return symbol ? KYMO_OK : no_memory(error);
}

static uint32_t load_number(const struct kymo_cpel_class *class_, const struct kymo_event *event) {
  uint64_t number = kymo_cpel_number_of(event, class_->number);
  return (uint32_t)(class_->is_cut && class_->bits < 32 ? number & ((UINT64_C(1) << class_->bits) - 1)
                                                        : number);
}

int kymo_cpel_value_of(struct kymo_cpel_classes *classes, const struct kymo_event *event,
                       struct kymo_cpel_value *value, struct kymo_error *error) {
  struct kymo_cpel_class **place = &classes->list[kymo_kind_of(event)];
  int status = *place ? KYMO_OK : make_class(classes, event, place, error);
  if (status < 0)
    return status;
  const struct kymo_cpel_class *class_ = *place;
  uint64_t flushes = classes->fields.print.out.flushes, length = 0;
  const uint8_t *bytes = NULL;
  *value = (struct kymo_cpel_value){.code = class_->code};
  switch (class_->how) {
  case KYMO_CPEL_NOTHING: return KYMO_OK;
  case KYMO_CPEL_NUMBER: value->number = load_number(class_, event); return KYMO_OK;
  case KYMO_CPEL_SYMBOL:
    value->number = load_number(class_, event);
    return add_symbol(classes, event, class_, value->number, error);
  case KYMO_CPEL_TEXT:
    kymo_event_get_bytes(event, class_->text, &bytes, &length);
    value->text = bytes ? (const char *)bytes : "";
    value->length = bytes ? (size_t)length : 0;
    return KYMO_OK;
  case KYMO_CPEL_FORMATTED: kymo_cpel_datum_print(&classes->fields.print.out, &class_->datum, event); break;
  case KYMO_CPEL_FIELDS:
    classes->fields.says = class_->says;
    classes->fields.says_member = class_->says_member;
    kymo_text_print(&classes->fields, event, &class_->script);
    break;
  }
  status = take_text(classes, flushes, value, error);
  bool has_blank =
      class_->how == KYMO_CPEL_FIELDS && status == KYMO_OK && value->length && *value->text == ' ';
  value->text += has_blank;
  value->length -= has_blank;
  return status;
}

/* ---- life ---- */

int kymo_cpel_classes_begin(struct kymo_cpel_classes *classes, struct kymo_trace *trace, bool for_vpp,
                            struct kymo_error *error) {
  *classes = (struct kymo_cpel_classes){.trace = trace, .for_vpp = for_vpp};
  kymo_cpel_definitions_begin(&classes->all, for_vpp ? 1 : 0); /* g2 cannot search for code 0 */
  kymo_cpel_definitions_begin(&classes->symbols, 0);
  classes->keeps_symbols = !for_vpp && kymo_trace_part_count(trace) == 1;
  classes->memory = open_memstream(&classes->memory_text, &classes->memory_size);
  if (!classes->memory)
    return no_memory(error);
  int status = kymo_text_fields_begin(&classes->fields, trace, classes->memory, kymo_text_label, error);
  if (status < 0)
    return status;
  classes->fields.message_is_bare = true;
  size_t count = classes->fields.print.whos.numbers.class_count + 1u;
  classes->list = kymo_arena_array(&classes->fields.print.arena, count, sizeof *classes->list);
  return classes->list ? KYMO_OK : no_memory(error);
}

void kymo_cpel_classes_end(struct kymo_cpel_classes *classes) {
  if (classes->memory) {
    kymo_text_fields_end(&classes->fields, NULL);
    fclose(classes->memory);
  }
  free(classes->memory_text);
  kymo_cpel_definitions_end(&classes->all);
  kymo_cpel_definitions_end(&classes->symbols);
}
