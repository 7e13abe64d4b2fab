/* SPDX-License-Identifier: MIT */
/* The kernel's format files: fields, event classes, steps, and the parser of print fmt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/ftrace/ftrace.h"
#include "lang/ftrace/print.h"
#include "schema/attribute.h"
#include "schema/build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD(name)                                                       \
  "name: " name "\nID: 42\nformat:\n"                                    \
  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(declaration, offset, size, is_signed) \
  "\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

static const struct kymo_ftrace_machine machine = {.is_big = false, .long_size = 8};

/* ---- format files ---- */

static int parse(struct kymo_ftrace_format *format, struct kymo_arena *arena, const char *text,
                 struct kymo_error *error) {
  return kymo_ftrace_parse(format, arena, &machine, text, strlen(text), "FILE", error);
}

static void fields_have_names_places_and_types(void **state) {
  (void)state;
  static const char text[] =
      HEAD("some_event") FIELD("char comm[16]", 8, 16, 0) FIELD("__data_loc char[] name", 24, 4, 0)
          FIELD("__rel_loc unsigned long[] list", 28, 4, 0) FIELD("const char * file", 32, 8, 0)
              FIELD("u8 addr[6]", 40, 6, 0) FIELD("bool ok", 46, 1, 0) FIELD("struct big thing", 48, 24, 0)
                  FIELD("int (*function)(void)", 72, 8, 0) FIELD("u32 rest[]", 80, 0, 0)
                      FIELD("char name", 80, 0, 0) "\nprint fmt: \"%s\", REC->comm  \n";
  static const struct expected {
    const char *name, *type;
    enum kymo_ftrace_place place;
    uint32_t offset, element_size;
    bool is_array, is_text, is_pointer;
  } expected[] = {
      {"common_type", "unsigned short", KYMO_FTRACE_FIXED, 0, 0, false, false, false},
      {"common_pid", "int", KYMO_FTRACE_FIXED, 4, 0, false, false, false},
      {"comm", "char", KYMO_FTRACE_FIXED, 8, 1, true, true, false},
      {"name", "char", KYMO_FTRACE_DATA_LOC, 24, 1, true, true, false},
      {"list", "unsigned long", KYMO_FTRACE_REL_LOC, 28, 8, true, false, false},
      {"file", "const char *", KYMO_FTRACE_FIXED, 32, 0, false, false, true},
      {"addr", "u8", KYMO_FTRACE_FIXED, 40, 1, true, false, false},
      {"ok", "bool", KYMO_FTRACE_FIXED, 46, 0, false, false, false},
      {"thing", "struct big", KYMO_FTRACE_FIXED, 48, 0, false, false, false},
      {"function", "int (*", KYMO_FTRACE_FIXED, 72, 0, false, false, true},
      {"rest", "u32", KYMO_FTRACE_REST, 80, 4, true, false, false},
      {"name_2", "char", KYMO_FTRACE_REST, 80, 1, true, true, false},
  };
  struct kymo_arena arena = {0};
  struct kymo_error error = {0};
  struct kymo_ftrace_format format;
  assert_int_equal(parse(&format, &arena, text, &error), KYMO_OK);
  assert_string_equal(format.name, "some_event");
  assert_int_equal(format.id, 42);
  assert_int_equal(format.common_count, 2);
  assert_int_equal(format.count, sizeof expected / sizeof *expected);
  assert_string_equal(format.print, "\"%s\", REC->comm");
  for (uint32_t i = 0; i < format.count; i++) {
    const struct kymo_ftrace_field *field = &format.fields[i];
    assert_string_equal(field->name, expected[i].name);
    assert_string_equal(field->type, expected[i].type);
    assert_int_equal(field->place, expected[i].place);
    assert_int_equal(field->offset, expected[i].offset);
    assert_int_equal(field->element_size, expected[i].element_size);
    assert_int_equal(field->is_array, expected[i].is_array);
    assert_int_equal(field->is_text, expected[i].is_text);
    assert_int_equal(field->is_pointer, expected[i].is_pointer);
  }
  assert_true(format.fields[7].is_bool);
  assert_true(format.fields[1].is_signed);
  kymo_arena_free(&arena);
}

static void wrong_formats_are_refused_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
    uint32_t line;
  } cases[] = {
      {"", "expected \"name:\"", 1},
      {"name: \n", "expected the name of an event", 1},
      {"name: a\nID: x\n", "expected a number", 2},
      {"name: a\nID: 70000\n", "expected a number up to 65535", 2},
      {"name: a\nID: 7\nfields:\n", "expected \"format:\"", 3},
      {"name: a\nID: 7\nformat:\n\tfield:int x", "expected ';' after a declaration", 4},
      {"name: a\nID: 7\nformat:\n\tfield:int x; size:4;", "expected \"offset:\"", 4},
      {"name: a\nID: 7\nformat:\n" FIELD("", 0, 4, 0), "expected a type and a name", 4},
      {HEAD("a") FIELD("__data_loc char[] x", 8, 2, 0), "expected 4 bytes for the place of x, found 2", 7},
      {HEAD("a") "\nprint: 1\n", "expected \"print fmt:\"", 8},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kymo_arena arena = {0};
    struct kymo_error error = {0};
    struct kymo_ftrace_format format;
    assert_int_equal(parse(&format, &arena, cases[i].text, &error), KYMO_E_SYNTAX);
    assert_string_equal(error.message, cases[i].message);
    assert_int_equal(error.line, cases[i].line);
    assert_string_equal(error.file, "FILE");
    kymo_arena_free(&arena);
  }
}

/* ---- event classes ---- */

static struct kymo_schema *compile(const char *text, struct kymo_ftrace_class *class_) {
  struct kymo_arena arena = {0};
  struct kymo_error error = {0};
  struct kymo_ftrace_format format;
  struct kymo_builder *builder = kymo_builder_new();
  struct kymo_stream_class *stream;
  assert_int_equal(parse(&format, kymo_builder_arena(builder), text, &error), KYMO_OK);
  assert_int_equal(kymo_builder_stream(builder, &(struct kymo_stream_class){0}, &stream, &error), KYMO_OK);
  assert_int_equal(kymo_ftrace_add_class(class_, builder, stream, &machine, "group", &format, &error),
                   KYMO_OK);
  struct kymo_schema *schema = kymo_builder_finish(builder, &error);
  assert_non_null(schema);
  kymo_arena_free(&arena);
  return schema;
}

static void names_of_numbers_come_from_the_print_fmt(void **state) {
  (void)state;
  static const char text[] = HEAD("e") FIELD("int kind", 8, 4, 1) FIELD("unsigned int flags", 12, 4, 0)
      FIELD("int plain", 16, 4,
            1) "\nprint fmt: \"%s %s %d\", __print_symbolic(REC->kind, { -1, \"NONE\" }, "
               "{ (1 << 4), \"SIXTEEN\" }, { UNKNOWN, \"unknown\" }), "
               "__print_flags((unsigned long)REC->flags, \"|\", { 1, \"A\" }, { 0x6, \"two bits\" }, "
               "{ 1UL << 31, \"Z\" }, { 0, ((void *)0) }), REC->plain\n";
  struct kymo_ftrace_class class_;
  struct kymo_schema *schema = compile(text, &class_);
  const struct kymo_type *payload = class_.class_->payload;
  const struct kymo_type *kind = payload->members[0].type, *flags = payload->members[1].type;
  assert_string_equal(class_.class_->name, "group:e");
  assert_string_equal(class_.class_->group, "group");
  assert_int_equal(class_.class_->id, 42);
  assert_true(kind->is_enumeration);
  assert_int_equal(kind->mapping_count, 2);
  assert_string_equal(kind->mappings[0].name, "NONE");
  assert_int_equal((int64_t)kind->mappings[0].low, -1);
  assert_int_equal(kind->mappings[1].low, 16);
  assert_int_equal(flags->kind, KYMO_KIND_BITMAP);
  assert_int_equal(flags->mapping_count, 2);
  assert_int_equal(flags->mappings[1].low, 31);
  assert_int_equal(payload->members[2].type->mapping_count, 0);
  kymo_schema_release(schema);
}

static void neighbours_are_copied_at_once(void **state) {
  (void)state;
  static const char text[] = HEAD("e") FIELD("int a", 8, 4, 1) FIELD("int b", 12, 4, 1)
      FIELD("u64 c", 24, 8, 0) FIELD("__data_loc char[] d", 32, 4, 0) FIELD("__data_loc u16[] e", 36, 4, 0)
          FIELD("int f", 40, 4, 1);
  static const struct {
    enum kymo_ftrace_step_kind kind;
    uint32_t from, size;
  } steps[] = {{KYMO_FTRACE_COPY, 8, 8},
               {KYMO_FTRACE_COPY, 24, 8},
               {KYMO_FTRACE_PUT_TEXT, 32, 1},
               {KYMO_FTRACE_PUT_COUNT, 36, 2},
               {KYMO_FTRACE_COPY, 40, 4}};
  struct kymo_ftrace_class class_;
  struct kymo_schema *schema = compile(text, &class_);
  assert_int_equal(class_.step_count, sizeof steps / sizeof *steps);
  for (uint32_t i = 0; i < class_.step_count; i++) {
    assert_int_equal(class_.steps[i].kind, steps[i].kind);
    assert_int_equal(class_.steps[i].from, steps[i].from);
    assert_int_equal(class_.steps[i].size, steps[i].size);
  }
  assert_int_equal(class_.least_bytes, 44);
  const struct kymo_type *payload = class_.class_->payload;
  assert_int_equal(payload->member_count, 7); /* with the count of e, which is hidden */
  assert_true(kymo_member_is_hidden(&payload->members[4]));
  assert_string_equal(payload->members[5].name, "e");
  assert_int_equal(payload->members[5].type->kind, KYMO_KIND_SEQUENCE);
  kymo_schema_release(schema);
}

/* ---- print fmt ---- */

static uint32_t find(const void *user, const char *name, size_t length) {
  (void)user;
  return length == 1 && *name >= 'a' && *name <= 'z' ? (uint32_t)(*name - 'a') : UINT32_MAX;
}

static int parse_print(struct kymo_ftrace_print *print, struct kymo_arena *arena, const char *text,
                       enum kymo_ftrace_rules rules, struct kymo_error *error) {
  return kymo_ftrace_print_parse(print, arena, text, rules, find, NULL, error);
}

static void wrong_print_fmts_are_refused_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "expected a format in quotes"},
      {"\"%d", "a quote without end"},
      {"\"%d\"", "a conversion without an argument"},
      {"\"%d\",", "expected a value"},
      {"\"%d\", 1 2", "expected \",\" or the end"},
      {"\"%n\", 1", "a conversion that is not known"},
      {"\"%5\", 1", "a conversion without end"},
      {"\"%lllx\", 1", "a conversion of too many lengths"},
      {"\"%d\", REC->field", "no field has the name field"},
      {"\"%d\", REC.a", "expected \"->\""},
      {"\"%d\", (1", "expected \")\""},
      {"\"%d\", a ? 1", "expected \":\""},
      {"\"%d\", nothing(1)", "a function that is not known: nothing"},
      {"\"%d\", sizeof(struct page)", "a type whose size is not known"},
      {"\"%s\", __print_flags(REC->a, 1, { 1, \"x\" })", "expected a text"},
      {"\"%s\", __print_symbolic(REC->a, { REC->b, \"x\" })", "expected a constant"},
      {"\"%s\", __print_symbolic(REC->a, { 1, REC->b })", "expected a name in quotes"},
      {"\"%s\", __get_str(nobody)", "no field has the name nobody"},
      {"\"%d\", ({ int x = 1; x; })", "expected a value"},
      {"\"%d\", 12x", "expected a number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kymo_arena arena = {0};
    struct kymo_error error = {0};
    struct kymo_ftrace_print print;
    assert_int_equal(parse_print(&print, &arena, cases[i].text, KYMO_FTRACE_OF_KERNEL, &error),
                     KYMO_E_SYNTAX);
    assert_string_equal(error.message, cases[i].message);
    kymo_arena_free(&arena);
  }
}

/* An expression with parentheses around each operation. */
static void spell(const struct kymo_ftrace_node *node, char *out, size_t size) {
  static const char *const signs[] = {"||", "&&", "|",  "^", "&", "==", "!=", "<", ">", "<=",
                                      ">=", "<<", ">>", "+", "-", "*",  "/",  "%", "!", "~"};
  char a[200] = "", b[200] = "", c[200] = "";
  if (node->a)
    spell(node->a, a, sizeof a);
  if (node->b)
    spell(node->b, b, sizeof b);
  if (node->c)
    spell(node->c, c, sizeof c);
  switch ((enum kymo_ftrace_node_kind)node->kind) {
  case KYMO_FTRACE_NUMBER: snprintf(out, size, "%llu", (unsigned long long)node->number); break;
  case KYMO_FTRACE_FIELD: snprintf(out, size, "%c", 'a' + (int)node->field); break;
  case KYMO_FTRACE_CAST: snprintf(out, size, "[%s%u]%s", node->is_signed ? "s" : "u", node->bits, a); break;
  case KYMO_FTRACE_UNARY: snprintf(out, size, "(%s%s)", signs[node->operation], a); break;
  case KYMO_FTRACE_BINARY: snprintf(out, size, "(%s%s%s)", a, signs[node->operation], b); break;
  case KYMO_FTRACE_CONDITION: snprintf(out, size, "(%s?%s:%s)", a, b, c); break;
  case KYMO_FTRACE_INDEX: snprintf(out, size, "%s[%s]", a, b); break;
  default: snprintf(out, size, "?"); break;
  }
}

static void operators_have_the_ranks_of_c_or_of_trace_cmd(void **state) {
  (void)state;
  static const struct {
    const char *text, *kernel, *trace_cmd; /* NULL: trace-cmd cannot parse it */
  } cases[] = {
      {"REC->a", "a", "a"},
      {"REC->a - REC->b - REC->c", "((a-b)-c)", "(a-(b-c))"},
      {"REC->a + REC->b * 2", "(a+(b*2))", "(a+(b*2))"},
      {"REC->a * 2 + REC->b", "((a*2)+b)", "((a*2)+b)"},
      {"REC->a & (REC->b | 4)", "(a&(b|4))", "((a&b)|4)"},
      {"REC->a << 2 | REC->b", "((a<<2)|b)", "((a<<2)|b)"},
      {"REC->a ? 1 : REC->b ? 2 : 3", "(a?1:(b?2:3))", "((a?1:b)?2:3)"},
      {"REC->a < (REC->b ? 1 : 2)", "(a<(b?1:2))", "((a<b)?1:2)"},
      {"(u32)REC->a + 1", "([u32]a+1)", "([u32]a+1)"},
      {"(int)(REC->a + 1)", "[s32](a+1)", "[s32](a+1)"},
      {"(unsigned long)-4095", "[u0](-4095)", "[u0](-4095)"},
      {"-REC->a", "(-a)", "(-a)"},
      {"!!(REC->a)", "(!(!a))", "(!(!a))"},
      {"REC->a[1] + 2", "(a[1]+2)", "(a[1]+2)"},
      {"2 + REC->a[1]", "(2+a[1])", NULL},
      {"(REC)->a", "a", "a"},
      {"'x'", "120", "120"},
      {"017 + 0x1fUL", "(15+31)", "(15+31)"},
      {"__builtin_expect(!!(REC->a), 0) ? 1 : 2", "((!(!a))?1:2)", "((!(!a))?1:2)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int rules = KYMO_FTRACE_OF_KERNEL; rules <= KYMO_FTRACE_OF_TRACE_CMD; rules++) {
      const char *expected = rules == KYMO_FTRACE_OF_KERNEL ? cases[i].kernel : cases[i].trace_cmd;
      struct kymo_arena arena = {0};
      struct kymo_ftrace_print print;
      char text[300], spelt[600];
      snprintf(text, sizeof text, "\"%%d\", %s", cases[i].text);
      int status = parse_print(&print, &arena, text, (enum kymo_ftrace_rules)rules, NULL);
      assert_int_equal(status, expected ? KYMO_OK : KYMO_E_SYNTAX);
      if (expected) {
        spell(print.pieces[0].argument, spelt, sizeof spelt);
        assert_string_equal(spelt, expected);
      }
      kymo_arena_free(&arena);
    }
}

static void a_format_has_pieces_with_their_arguments(void **state) {
  (void)state;
  static const char text[] =
      "\"a=%-08.3lld%% \\t%pISpc\" \"|%*ph %pS%c\", REC->a, REC->b, 6, REC->c, REC->d, REC->e";
  struct kymo_arena arena = {0};
  struct kymo_ftrace_print print;
  assert_int_equal(parse_print(&print, &arena, text, KYMO_FTRACE_OF_KERNEL, NULL), KYMO_OK);
  assert_int_equal(print.count, 6);
  const struct kymo_ftrace_piece *pieces = print.pieces;
  assert_int_equal(pieces[0].length, 2);
  assert_int_equal(pieces[0].longs, 2);
  assert_true(pieces[0].number.left && pieces[0].number.zero && pieces[0].number.has_precision);
  assert_int_equal(pieces[0].number.width, 8);
  assert_int_equal(pieces[0].number.precision, 3);
  assert_memory_equal(pieces[1].text, "% \t", 3);
  assert_string_equal(pieces[1].pointer, "ISpc");
  assert_memory_equal(pieces[2].text, "|", 1);
  assert_int_equal(pieces[2].width->number, 6);
  assert_int_equal(pieces[2].argument->field, 2);
  assert_string_equal(pieces[3].pointer, "S");
  assert_int_equal(pieces[4].number.conversion, 'c');
  assert_int_equal(pieces[5].number.conversion, 0);
  kymo_arena_free(&arena);
}

/* A text of any depth must not use up the stack. */
static void deep_expressions_are_refused(void **state) {
  (void)state;
  static const char *const units[] = {"(", "!", "1 + ", "1 ? 1 : ", "(int)", "REC->a[", "__builtin_expect("};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    for (int rules = KYMO_FTRACE_OF_KERNEL; rules <= KYMO_FTRACE_OF_TRACE_CMD; rules++) {
      size_t length = strlen(units[i]), count = 20000;
      struct kymo_arena arena = {0};
      struct kymo_ftrace_print print;
      char *text = malloc(count * length + 16);
      memcpy(text, "\"%d\", ", 6);
      for (size_t k = 0; k < count; k++)
        memcpy(text + 6 + k * length, units[i], length);
      memcpy(text + 6 + count * length, "1", 2);
      assert_int_equal(parse_print(&print, &arena, text, (enum kymo_ftrace_rules)rules, NULL), KYMO_E_SYNTAX);
      free(text);
      kymo_arena_free(&arena);
    }
}

static void operations_are_defined_for_all_numbers(void **state) {
  (void)state;
  uint64_t least = (uint64_t)INT64_MIN, minus = UINT64_MAX;
  assert_int_equal(kymo_ftrace_operate(KYMO_FTRACE_DIVIDE, 5, 0, true), 0);
  assert_int_equal(kymo_ftrace_operate(KYMO_FTRACE_REMAINDER, 5, 0, false), 0);
  assert_int_equal(kymo_ftrace_operate(KYMO_FTRACE_DIVIDE, least, minus, true), 0);
  assert_int_equal(kymo_ftrace_operate(KYMO_FTRACE_LEFT, 1, 64, false), 1);
  assert_true(kymo_ftrace_operate(KYMO_FTRACE_LESS, minus, 1, true) == 1);
  assert_true(kymo_ftrace_operate(KYMO_FTRACE_LESS, minus, 1, false) == 0);
  assert_true(kymo_ftrace_operate(KYMO_FTRACE_RIGHT, minus, 1, true) == minus);
  assert_true(kymo_ftrace_operate(KYMO_FTRACE_RIGHT, minus, 1, false) == minus >> 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_have_names_places_and_types),
      cmocka_unit_test(wrong_formats_are_refused_with_their_place),
      cmocka_unit_test(names_of_numbers_come_from_the_print_fmt),
      cmocka_unit_test(neighbours_are_copied_at_once),
      cmocka_unit_test(wrong_print_fmts_are_refused_with_their_place),
      cmocka_unit_test(operators_have_the_ranks_of_c_or_of_trace_cmd),
      cmocka_unit_test(a_format_has_pieces_with_their_arguments),
      cmocka_unit_test(deep_expressions_are_refused),
      cmocka_unit_test(operations_are_defined_for_all_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
