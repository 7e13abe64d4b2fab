/* SPDX-License-Identifier: MIT */
/*
 * One record as HTML: its bytes in rows of 16, and its fields as a tree. What belongs together has the same
 * number in its attribute data-f; a byte that several fields share has several.
 */
#include "base/list.h"
#include "print/unicode.h"
#include "tool/hex.h"
#include "tool/workbench.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 16, OWNERS = 8, COLORS = 8 };

/* ---- texts ---- */

static void add_character(struct kymo_strbuf *out, uint32_t character, const char *bytes, size_t size) {
  switch (character) {
  case '&': kymo_strbuf_puts(out, "&amp;"); return;
  case '<': kymo_strbuf_puts(out, "&lt;"); return;
  case '>': kymo_strbuf_puts(out, "&gt;"); return;
  case '"': kymo_strbuf_puts(out, "&quot;"); return;
  case '\'': kymo_strbuf_puts(out, "&#39;"); return;
  case '\t': kymo_strbuf_puts(out, "\t"); return;
  case KYMO_BAD_CHARACTER: kymo_strbuf_puts(out, "\xEF\xBF\xBD"); return;
  default: break;
  }
  if (character < ' ' || character == 0x7f)
    kymo_strbuf_printf(out, "\\x%02" PRIx32, character);
  else if (kymo_is_obeyed(character))
    kymo_strbuf_printf(out, "\\u%04" PRIx32, character);
  else
    kymo_strbuf_add(out, bytes, size);
}

void workbench_add_text(struct kymo_strbuf *out, const char *text, size_t size) {
  const uint8_t *at = (const uint8_t *)text, *end = at + size;
  while (at < end) {
    const uint8_t *from = at;
    uint32_t character = kymo_next_utf8(&at, end);
    add_character(out, character, (const char *)from, (size_t)(at - from));
  }
}

static void add_string(struct kymo_strbuf *out, const char *text) {
  if (text)
    workbench_add_text(out, text, strlen(text));
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* ---- lines of the description ---- */

uint32_t workbench_line_of(const struct workbench *bench, enum kymo_plan_section section, uint32_t index) {
  struct kymo_tdl_span span;
  if (bench->line_count == 0 || !kymo_tdl_origin_of(&bench->origins, section, index, &span))
    return 0;
  uint32_t low = 0, high = bench->line_count;
  while (low + 1 < high) {
    uint32_t middle = low + (high - low) / 2;
    if (bench->lines[middle].begin <= span.at)
      low = middle;
    else
      high = middle;
  }
  return low + 1;
}

static uint32_t line_of_field(const struct workbench *bench, const struct kymo_look_field *field) {
  const struct kymo_plan *plan = bench->look->plan;
  if (field->load)
    return workbench_line_of(bench, KYMO_SECTION_LOAD, (uint32_t)(field->load - plan->loads));
  if (field->code)
    return workbench_line_of(bench, KYMO_SECTION_INSTRUCTION, (uint32_t)(field->code - plan->code));
  return 0;
}

/* `is_of_record`: a note about the record of machine->kind. */
static uint32_t line_of_note(const struct workbench *bench, const struct kymo_plan_note *note,
                             bool is_of_record) {
  const struct kymo_plan *plan = bench->look->plan;
  uint32_t kind = bench->look->machine->kind, line = 0;
  if (note->code)
    line = workbench_line_of(bench, KYMO_SECTION_INSTRUCTION, (uint32_t)(note->code - plan->code));
  if (!line && kind != KYMO_PLAN_NONE && (is_of_record || note->r == 1 || note->r == 2))
    line = workbench_line_of(bench, KYMO_SECTION_KIND, kind);
  if (!line && note->dispatch != KYMO_PLAN_NONE)
    line = workbench_line_of(bench, KYMO_SECTION_DISPATCH, note->dispatch);
  return line;
}

/* ---- the parts of a record ---- */

/* A field, bits that are in none, or a problem at a byte. */
struct part {
  uint64_t begin_bits, end_bits; /* in `bytes` of the shown bytes */
  uint32_t id, line, color;      /* color: COLORS for bits without a field */
  struct tool_hex_text text;
  bool is_unread, is_fault;
};

/* Shown bytes: [begin, end) of `bytes`, of which `from` is shown as offset. */
struct shown {
  struct part *parts;
  size_t count, capacity;
  const uint8_t *bytes;
  uint64_t begin, end, from;
  size_t hidden; /* parts beyond WORKBENCH_FIELDS_MAX */
};

static struct part *add_part(struct workbench *bench, struct shown *shown, uint64_t begin_bits,
                             uint64_t end_bits) {
  if (!KYMO_LIST_ROOM(shown->parts, shown->capacity, shown->count))
    tool_end_without_memory();
  struct part *part = &shown->parts[shown->count++];
  *part = (struct part){.begin_bits = begin_bits, .end_bits = end_bits, .id = ++bench->ids, .color = COLORS};
  return part;
}

static void add_unread(struct workbench *bench, struct shown *shown, uint64_t begin_bits, uint64_t end_bits,
                       const char *name) {
  struct part *part = add_part(bench, shown, begin_bits, end_bits);
  part->is_unread = true;
  kymo_strbuf_puts(&part->text.name, name);
}

static void count_line(struct workbench *bench, uint32_t line, bool is_faulty) {
  if (line == 0)
    return;
  bench->lines[line - 1].fields += !is_faulty;
  bench->lines[line - 1].is_faulty |= is_faulty;
}

/* The fields between two bits, and what is between them. */
static void collect(struct workbench *bench, struct shown *shown, uint64_t at, uint64_t end) {
  const struct kymo_look *look = bench->look;
  size_t first = shown->count;
  for (size_t i = 0; i < look->field_count; i++) {
    const struct kymo_look_field *field = &look->fields[i];
    if (field->bytes != shown->bytes)
      continue;
    if (shown->count - first >= WORKBENCH_FIELDS_MAX) {
      shown->hidden = look->field_count - i;
      return;
    }
    if (field->begin_bits > at)
      add_unread(bench, shown, at, field->begin_bits, "(not read)");
    struct part *part = add_part(bench, shown, field->begin_bits, field->end_bits);
    tool_hex_field(look, field, &part->text);
    part->line = line_of_field(bench, field);
    part->color = part->id % COLORS;
    count_line(bench, part->line, false);
    at = field->end_bits > at ? field->end_bits : at;
  }
  if (at < end)
    add_unread(bench, shown, at, end, "(not read)");
}

static void free_parts(struct shown *shown) {
  for (size_t i = 0; i < shown->count; i++)
    tool_hex_text_free(&shown->parts[i].text);
  free(shown->parts);
}

/* ---- bytes ---- */

/* The parts that a byte belongs to. */
struct owners {
  uint32_t parts[OWNERS];
  uint32_t count;
};

static void own_bytes(const struct shown *shown, struct owners *owners) {
  for (size_t i = 0; i < shown->count; i++) {
    const struct part *part = &shown->parts[i];
    uint64_t begin = part->begin_bits / 8, end = (part->end_bits + 7) / 8;
    begin = begin > shown->begin ? begin : shown->begin;
    end = end < shown->end ? end : shown->end;
    for (uint64_t at = begin; at < end; at++) {
      struct owners *own = &owners[at - shown->begin];
      if (own->count < OWNERS)
        own->parts[own->count++] = (uint32_t)i;
    }
  }
}

static bool is_same(const struct owners *one, const struct owners *other) {
  return one->count == other->count &&
         memcmp(one->parts, other->parts, one->count * sizeof one->parts[0]) == 0;
}

/* The attributes of bytes that have the same parts: colour, numbers, and a name for those who do not see
 * them. */
static void add_owners(const struct workbench *bench, const struct shown *shown, const struct owners *own,
                       struct kymo_strbuf *out) {
  bool is_fault = false, is_unread = own->count == 0;
  uint32_t color = COLORS;
  for (uint32_t i = 0; i < own->count; i++) {
    const struct part *part = &shown->parts[own->parts[i]];
    is_fault |= part->is_fault;
    is_unread |= part->is_unread;
    color = part->color < COLORS && color == COLORS ? part->color : color;
  }
  kymo_strbuf_puts(out, "<span class=\"");
  if (color < COLORS)
    kymo_strbuf_printf(out, "c%" PRIu32, color);
  else
    kymo_strbuf_puts(out, is_unread ? "unread" : "plain");
  kymo_strbuf_puts(out, is_fault ? " fault\"" : "\"");
  if (bench->is_picture)
    return;
  kymo_strbuf_puts(out, " role=\"option\" aria-selected=\"false\" tabindex=\"-1\" data-f=\"");
  for (uint32_t i = 0; i < own->count; i++)
    kymo_strbuf_printf(out, i ? " %" PRIu32 : "%" PRIu32, shown->parts[own->parts[i]].id);
  kymo_strbuf_puts(out, "\"");
}

static void add_run(struct workbench *bench, const struct shown *shown, const struct owners *own,
                    uint64_t from, uint64_t to) {
  struct kymo_strbuf *out = &bench->hex;
  add_owners(bench, shown, own, out);
  kymo_strbuf_puts(out, ">");
  for (uint64_t at = from; at < to; at++)
    kymo_strbuf_printf(out, at > from ? " %02x" : "%02x", shown->bytes[at]);
  kymo_strbuf_puts(out, "</span> ");
}

static void add_row(struct workbench *bench, const struct shown *shown, const struct owners *owners,
                    uint64_t row) {
  struct kymo_strbuf *out = &bench->hex;
  uint64_t end = row + ROW_BYTES < shown->end ? row + ROW_BYTES : shown->end, from = row;
  kymo_strbuf_printf(out,
                     "<div class=\"row\"><span class=\"offset\" aria-hidden=\"true\">%8" PRIu64 "</span>  ",
                     row - shown->begin + shown->from);
  for (uint64_t at = row + 1; at <= end; at++)
    if (at == end || !is_same(&owners[at - shown->begin], &owners[from - shown->begin])) {
      add_run(bench, shown, &owners[from - shown->begin], from, at);
      from = at;
    }
  kymo_strbuf_printf(out, "%*s<span class=\"text\" aria-hidden=\"true\">",
                     (int)(row + ROW_BYTES - end) * 3 + 1, "");
  for (uint64_t at = row; at < end; at++) {
    char character = (char)shown->bytes[at];
    bool is_plain = character >= ' ' && character < 0x7f;
    add_character(out, is_plain ? (uint32_t)character : '.', is_plain ? &character : ".", 1);
  }
  kymo_strbuf_puts(out, "</span></div>\n");
}

/* All bytes, under their head. */
static void add_bytes(struct workbench *bench, const struct shown *shown, const char *head) {
  struct kymo_strbuf *out = &bench->hex;
  uint64_t size = shown->end - shown->begin;
  struct owners *owners = calloc(size + 1, sizeof *owners);
  if (!owners)
    tool_end_without_memory();
  own_bytes(shown, owners);
  if (bench->is_picture)
    kymo_strbuf_printf(out, "<div class=\"head\">%s</div>\n<div class=\"bytes\">\n", head);
  else
    kymo_strbuf_printf(out,
                       "<div class=\"record\" role=\"group\" data-r=\"%" PRIu32 "\" aria-label=\"%s\">"
                       "<div class=\"head\" aria-hidden=\"true\">%s</div>\n",
                       bench->records, head, head);
  for (uint64_t row = shown->begin; row < shown->end; row += ROW_BYTES)
    add_row(bench, shown, owners, row);
  kymo_strbuf_puts(out, "</div>\n");
  free(owners);
}

/* ---- tree ---- */

static void add_where(const struct shown *shown, const struct part *part, struct kymo_strbuf *out) {
  uint64_t begin = part->begin_bits / 8, end = (part->end_bits + 7) / 8;
  uint64_t offset = begin - shown->begin + shown->from;
  kymo_strbuf_printf(out, "<span class=\"where\">byte %" PRIu64, offset);
  if (part->begin_bits % 8 || part->end_bits % 8)
    kymo_strbuf_printf(out, ", bits %" PRIu64 "-%" PRIu64, part->begin_bits - begin * 8,
                       part->end_bits - begin * 8 - 1);
  else if (!part->is_fault)
    kymo_strbuf_printf(out, ", %" PRIu64 " byte%s", end - begin, plural(end - begin));
  if (part->line)
    kymo_strbuf_printf(out, ", line %" PRIu32, part->line);
  kymo_strbuf_puts(out, "</span>");
}

/* `has_more`: parts follow in it. */
static void open_node(struct workbench *bench, const char *attributes, bool has_more) {
  struct kymo_strbuf *out = &bench->tree;
  if (bench->is_picture)
    kymo_strbuf_puts(out, "<li>");
  else
    kymo_strbuf_printf(out, "<li role=\"treeitem\" aria-selected=\"false\" tabindex=\"-1\"%s%s>",
                       has_more ? " aria-expanded=\"true\"" : "", attributes);
}

static void add_node(struct workbench *bench, const struct shown *shown, const struct part *part) {
  struct kymo_strbuf *out = &bench->tree;
  char attributes[96];
  snprintf(attributes, sizeof attributes, " data-f=\"%" PRIu32 "\" data-line=\"%" PRIu32 "\"", part->id,
           part->line);
  open_node(bench, attributes, false);
  kymo_strbuf_puts(out, "<span class=\"node\"><span class=\"name ");
  if (part->is_fault)
    kymo_strbuf_puts(out, "fault\">\xE2\x9C\x97 ");
  else if (part->color < COLORS)
    kymo_strbuf_printf(out, "c%" PRIu32 "\">", part->color);
  else
    kymo_strbuf_puts(out, "unread\">");
  add_string(out, part->text.name.text);
  kymo_strbuf_puts(out, "</span> ");
  if (part->text.has_value) {
    kymo_strbuf_puts(out, "<span class=\"value\">");
    add_string(out, part->text.value.text);
    kymo_strbuf_puts(out, "</span> ");
  }
  add_where(shown, part, out);
  kymo_strbuf_puts(out, "</span></li>\n");
}

/* How many bytes of two places ("o[2].i[0].") are the same lists and elements. */
static size_t shared(const char *one, const char *other) {
  size_t same = 0;
  for (size_t i = 0; one[i] && one[i] == other[i]; i++)
    if (one[i] == '.' && i > 0 && one[i - 1] == ']')
      same = i + 1;
  return same;
}

/* The end of the first element after `at` in a place. */
static size_t element_end(const char *place, size_t at) {
  const char *end = strstr(place + at, "].");
  return end ? (size_t)(end - place) + 2 : strlen(place);
}

static void close_elements(struct workbench *bench, const char *place, size_t from) {
  for (size_t at = from; place[at]; at = element_end(place, at))
    kymo_strbuf_puts(&bench->tree, "</ul></li>\n");
}

static void open_elements(struct workbench *bench, const char *place, size_t from) {
  struct kymo_strbuf *out = &bench->tree;
  for (size_t at = from, end; place[at]; at = end) {
    end = element_end(place, at);
    open_node(bench, "", true);
    kymo_strbuf_puts(out, "<span class=\"node\"><span class=\"name plain\">");
    workbench_add_text(out, place + at, end - at - (place[end - 1] == '.'));
    kymo_strbuf_puts(out,
                     bench->is_picture ? "</span></span>\n<ul>\n" : "</span></span>\n<ul role=\"group\">\n");
  }
}

/* The fields in the order of their bytes; members of lists of structs in the elements. */
static void add_nodes(struct workbench *bench, const struct shown *shown) {
  const char *open = "";
  for (size_t i = 0; i < shown->count; i++) {
    const struct part *part = &shown->parts[i];
    const char *place = part->text.place.text ? part->text.place.text : "";
    size_t same = shared(open, place);
    close_elements(bench, open, same);
    open_elements(bench, place, same);
    open = place;
    add_node(bench, shown, part);
  }
  close_elements(bench, open, 0);
  if (shown->hidden) {
    open_node(bench, "", false);
    kymo_strbuf_printf(&bench->tree, "<span class=\"node\">(%zu more fields are not shown)</span></li>\n",
                       shown->hidden);
  }
}

/* ---- problems ---- */

static void add_problem(struct workbench *bench, const struct part *part, uint64_t offset) {
  struct kymo_strbuf *out = &bench->problems;
  if (++bench->problem_count > WORKBENCH_PROBLEMS_MAX)
    return;
  kymo_strbuf_printf(out,
                     "<li><button type=\"button\" data-f=\"%" PRIu32 "\" data-line=\"%" PRIu32 "\">"
                     "byte %" PRIu64 ": ",
                     part->id, part->line, offset);
  add_string(out, part->text.name.text);
  if (part->line)
    kymo_strbuf_printf(out, " (line %" PRIu32 ")", part->line);
  kymo_strbuf_puts(out, "</button></li>\n");
}

/* The damage that was found, each at its byte. */
static void collect_notes(struct workbench *bench, struct shown *shown, bool is_of_record) {
  const struct kymo_plan_machine *machine = bench->look->machine;
  for (uint32_t i = 0; i < machine->note_count; i++) {
    const struct kymo_plan_note *note = &machine->notes[i];
    char text[KYMO_PLAN_NOTE_BYTES];
    bool is_here = note->fault >= shown->begin && note->fault <= shown->end;
    uint64_t at = is_here ? note->fault : shown->begin;
    at = at == shown->end && at > shown->begin ? at - 1 : at;
    if (note->kind != KYMO_NOTE_DAMAGE)
      continue;
    struct part *part = add_part(bench, shown, at * 8, at * 8 + 8);
    part->is_fault = true;
    part->line = line_of_note(bench, note, is_of_record);
    kymo_plan_note_text(note, text);
    kymo_strbuf_puts(&part->text.name, text);
    if (note->bytes_lost)
      kymo_strbuf_printf(&part->text.name, "; not read from here: %" PRIu64 " byte%s", note->bytes_lost,
                         plural(note->bytes_lost));
    count_line(bench, part->line, true);
    add_problem(bench, part, note->place.depth ? note->offset : note->fault);
  }
}

/* ---- records, and what is none ---- */

/* Adds the parts of the page; `head` is escaped. */
static void add_all(struct workbench *bench, const struct shown *shown, const char *head, uint32_t line) {
  struct kymo_strbuf *out = &bench->tree;
  char attributes[96];
  bench->records++;
  add_bytes(bench, shown, head);
  if (!bench->is_picture) {
    snprintf(attributes, sizeof attributes, " data-r=\"%" PRIu32 "\" data-line=\"%" PRIu32 "\"",
             bench->records, line);
    open_node(bench, attributes, true);
    kymo_strbuf_printf(out, "<span class=\"node head\">%s</span>\n", head);
  }
  kymo_strbuf_puts(out, bench->is_picture ? "<ul>\n" : "<ul role=\"group\">\n");
  add_nodes(bench, shown);
  kymo_strbuf_puts(out, bench->is_picture ? "</ul>\n" : "</ul></li>\n");
}

bool workbench_has_space(const struct workbench *bench) {
  return bench->hex.length + bench->tree.length < WORKBENCH_PAGE_MAX;
}

void workbench_add_gap(struct workbench *bench, uint64_t to) {
  const struct kymo_plan_machine *machine = bench->look->machine;
  char head[96];
  if (bench->is_picture || to <= bench->covered)
    return;
  uint64_t size = to - bench->covered;
  struct shown shown = {.bytes = machine->data,
                        .begin = bench->covered,
                        .end = size > WORKBENCH_BYTES_MAX ? bench->covered + WORKBENCH_BYTES_MAX : to,
                        .from = bench->covered};
  snprintf(head, sizeof head, "%" PRIu64 " byte%s of no record, at %" PRIu64, size, plural(size),
           bench->covered);
  struct part *part = add_part(bench, &shown, shown.begin * 8, to * 8);
  part->is_unread = true;
  kymo_strbuf_puts(&part->text.name, "(no record)");
  add_all(bench, &shown, head, 0);
  kymo_strbuf_free(&part->text.name);
  kymo_strbuf_printf(&part->text.name, "%" PRIu64 " byte%s of no record", size, plural(size));
  add_problem(bench, part, bench->covered);
  free_parts(&shown);
  bench->covered = to;
}

/* Where reading goes on, in the file. */
static uint64_t end_of_damage(const struct kymo_plan_machine *machine, const struct kymo_plan_note *note) {
  uint64_t rest = machine->size > note->at ? machine->size - note->at : 0;
  return note->bytes_lost && note->bytes_lost < rest ? note->at + note->bytes_lost : machine->size;
}

void workbench_pass(struct workbench *bench, bool is_record) {
  const struct kymo_look *look = bench->look;
  const struct kymo_plan_machine *machine = look->machine;
  const struct kymo_plan_note *last = kymo_look_damage(look);
  uint64_t own = is_record && !tool_hex_is_container(machine) ? kymo_look_own_bytes(look) : machine->length;
  uint64_t to = 0;
  if (is_record)
    to = machine->box ? 0 : machine->start + own;
  else if (last && last->place.depth == 0)
    to = end_of_damage(machine, last);
  bench->covered = to > bench->covered ? to : bench->covered;
}

void workbench_add_record(struct workbench *bench) {
  const struct kymo_look *look = bench->look;
  const struct kymo_plan_machine *machine = look->machine;
  struct kymo_plan_place place = kymo_plan_record_place(machine);
  uint64_t own = kymo_look_own_bytes(look), end = machine->start + own;
  struct kymo_strbuf head = {0};
  char text[KYMO_PLAN_PLACE_BYTES];
  int length;
  const char *kind = tool_hex_kind(look, &length);
  if (!machine->box && machine->start > bench->covered)
    workbench_add_gap(bench, machine->start);
  struct shown shown = {.bytes = machine->bytes,
                        .begin = machine->start,
                        .end = own > WORKBENCH_BYTES_MAX ? machine->start + WORKBENCH_BYTES_MAX : end,
                        .from = place.depth ? place.within[place.depth - 1] : place.offset};
  kymo_plan_place_text(&place, text);
  workbench_add_text(&head, kind, (size_t)length);
  kymo_strbuf_printf(&head, " (%s), %" PRIu64 " byte%s at %s", tool_hex_class(look), machine->length,
                     plural(machine->length), text);
  if (own > WORKBENCH_BYTES_MAX)
    kymo_strbuf_printf(&head, "; the first %d bytes are shown", WORKBENCH_BYTES_MAX);
  collect(bench, &shown, machine->start * 8, end * 8);
  if (own < machine->length && !tool_hex_is_container(machine))
    add_unread(bench, &shown, end * 8, (machine->start + machine->length) * 8, "(records that it holds)");
  collect_notes(bench, &shown, true);
  uint32_t line = workbench_line_of(bench, KYMO_SECTION_KIND, machine->kind);
  count_line(bench, line, false);
  add_all(bench, &shown, head.text ? head.text : "", line);
  free_parts(&shown);
  kymo_strbuf_free(&head);
  workbench_pass(bench, true);
}

void workbench_add_failure(struct workbench *bench) {
  const struct kymo_plan_machine *machine = bench->look->machine;
  const struct kymo_plan_note *last = kymo_look_damage(bench->look);
  enum { AFTER = 64 }; /* bytes that are shown after the fault */
  if (!last)
    return;
  bool is_of_file = last->place.depth == 0 && last->start < machine->size && last->start <= last->fault;
  struct shown shown = {.bytes = machine->data};
  char head[96];
  if (is_of_file) {
    uint64_t to = end_of_damage(machine, last);
    workbench_add_gap(bench, last->start);
    shown.begin = shown.from = last->start;
    shown.end = last->fault < to && to - last->fault > AFTER ? last->fault + AFTER : to;
    shown.end = shown.end - shown.begin > WORKBENCH_BYTES_MAX ? shown.begin + WORKBENCH_BYTES_MAX : shown.end;
    collect(bench, &shown, shown.begin * 8, shown.end * 8);
    workbench_pass(bench, false);
  }
  collect_notes(bench, &shown, false);
  snprintf(head, sizeof head, machine->state.is_over ? "Reading stops at %" PRIu64 : "No record at %" PRIu64,
           is_of_file ? last->start : last->offset);
  add_all(bench, &shown, head, 0);
  free_parts(&shown);
}
