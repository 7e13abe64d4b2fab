/* SPDX-License-Identifier: MIT */
/* Random formats and arguments: the stored bytes are decoded with nothing but the format, and give the
 * arguments again. A cut event gives the arguments up to the boundary of a directive. */
#include "folder.h"
#include <errno.h>
#include <kymo/bprintf.h>

enum { FORMATS = 10000, DIRECTIVES = 12 };

static uint64_t seed = 1;

static uint64_t next(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed;
}

/* A format under construction, its arguments, and the bytes that it must store. */
struct sample {
  char format[512];
  struct kymo_barg args[2 * DIRECTIVES + 2];
  size_t arg_count, format_size;
  uint8_t bytes[8192];
  size_t size, boundary[4 * DIRECTIVES + 2], boundary_count; /* boundaries: where directives end */
  size_t hole[DIRECTIVES], hole_size[DIRECTIVES], holes;
  bool hole_is_big[DIRECTIVES];
};

static void say(struct sample *sample, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct sample *sample, const char *format, ...) {
  va_list args;
  va_start(args, format);
  sample->format_size += (size_t)vsnprintf(sample->format + sample->format_size,
                                           sizeof sample->format - sample->format_size, format, args);
  va_end(args);
}

static void store(struct sample *sample, const void *bytes, size_t size) {
  memcpy(sample->bytes + sample->size, bytes, size);
  sample->size += size;
}

static void end(struct sample *sample) { sample->boundary[sample->boundary_count++] = sample->size; }

/* Byte by byte, as shifts have it. */
static void put_number(uint8_t *at, uint64_t number, size_t size, bool is_big) {
  for (size_t i = 0; i < size; i++)
    at[i] = (uint8_t)(number >> 8 * (is_big ? size - 1 - i : i));
}

static bool pick_order(struct sample *sample) {
  switch (next() % 3) {
  case 0: say(sample, "<"); return false;
  case 1: say(sample, ">"); return true;
  default: return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  }
}

static void add_integer(struct sample *sample) {
  size_t size = (size_t)1 << next() % 4, width = next() % 3 ? 0 : size + next() % 5;
  uint64_t number = next();
  uint8_t bytes[16] = {0};
  say(sample, "%%");
  bool is_left = next() % 2, is_big = pick_order(sample);
  say(sample, is_left ? "-" : "");
  if (width)
    say(sample, "%zu.%zub", width, size);
  else
    say(sample, "%zub", size);
  width = width ? width : size;
  put_number(bytes + (is_left ? 0 : width - size), number, size, is_big);
  sample->args[sample->arg_count++] = KYMO_BARG(number);
  store(sample, bytes, width);
}

static void add_length(struct sample *sample) {
  size_t size = (size_t)2 << next() % 2;
  say(sample, "%%");
  sample->hole_is_big[sample->holes] = pick_order(sample);
  say(sample, "%zun", size);
  sample->hole[sample->holes] = sample->size;
  sample->hole_size[sample->holes++] = size;
  store(sample, (uint8_t[4]){0}, size);
}

static const char *pick_text(void) {
  static const char all[] =
      "The quick brown fox jumps over the lazy dog, and over it again, until it has enough of it and goes.";
  return all + next() % sizeof all;
}

static void add_text(struct sample *sample) {
  const char *text = pick_text();
  bool is_ended = next() % 2, has_precision = next() % 2, is_given = next() % 2;
  size_t precision = next() % 50, length = strlen(text), width = next() % 3 ? 0 : 1 + next() % 60;
  say(sample, "%%%s", is_ended ? "0" : "");
  if (width)
    say(sample, "%zu", width);
  if (has_precision && is_given) {
    say(sample, ".*");
    sample->args[sample->arg_count++] = KYMO_BARG((int)precision);
  } else if (has_precision)
    say(sample, ".%zu", precision);
  say(sample, "s");
  if (has_precision && precision < length)
    length = precision;
  for (size_t i = length; i < width; i++)
    store(sample, " ", 1);
  store(sample, text, length);
  store(sample, "", is_ended);
  sample->args[sample->arg_count++] = KYMO_BARG(text);
}

static void add_counted(struct sample *sample) {
  const char *text = pick_text();
  size_t size = (size_t)1 << next() % 3;
  uint8_t number[4];
  say(sample, "%%");
  bool is_big = pick_order(sample);
  say(sample, "%zuS", size);
  put_number(number, strlen(text), size, is_big);
  store(sample, number, size);
  store(sample, text, strlen(text));
  sample->args[sample->arg_count++] = KYMO_BARG(text);
}

static void add_object(struct sample *sample) {
  const void *object = pick_text();
  size_t size = (size_t)1 << next() % 3, element = 1 + next() % 4, count = strlen(object) / element;
  uint8_t number[4];
  say(sample, "%%");
  bool is_big = pick_order(sample);
  say(sample, "%zu.%zuo", size, element);
  put_number(number, count, size, is_big);
  store(sample, number, size);
  store(sample, object, count * element);
  sample->args[sample->arg_count++] = KYMO_BARG(object);
  sample->args[sample->arg_count++] = KYMO_BARG(count);
}

static void add_decimal(struct sample *sample) {
  long long number = (long long)(next() >> next() % 64);
  char text[32];
  int width = (int)(next() % 25);
  say(sample, "%%%dlld", width + 1);
  store(sample, text, (size_t)snprintf(text, sizeof text, "%*lld", width + 1, number));
  sample->args[sample->arg_count++] = KYMO_BARG(number);
}

static void add_literal(struct sample *sample) {
  static const char *const literals[] = {"x", "a text", ": ", "*3", "b"};
  const char *text = literals[next() % 5];
  if (sample->format_size && sample->format[sample->format_size - 1] == 'b' && *text == '*')
    text = "x";
  say(sample, "%s", text);
  store(sample, text, strlen(text));
}

static void make(struct sample *sample) {
  static void (*const add[])(struct sample *) = {add_integer, add_integer, add_length, add_text,
                                                 add_counted, add_object,  add_decimal};
  memset(sample, 0, sizeof *sample);
  for (size_t i = next() % DIRECTIVES; i > 0; i--) {
    if (next() % 3 == 0) {
      add_literal(sample);
      end(sample);
    }
    add[next() % 7](sample);
    end(sample);
  }
}

/* The boundary that an event of at most `most` bytes ends at. */
static size_t cut(const struct sample *sample, size_t most) {
  size_t size = 0;
  for (size_t i = 0; i < sample->boundary_count && sample->boundary[i] <= most; i++)
    size = sample->boundary[i];
  return size;
}

static void check(struct sample *sample, struct kymo_log *log, size_t most) {
  static uint8_t got[8192];
  size_t size = cut(sample, most);
  for (size_t i = 0; i < sample->holes; i++)
    if (sample->hole[i] < size)
      put_number(sample->bytes + sample->hole[i], size, sample->hole_size[i], sample->hole_is_big[i]);
  assert_int_equal(kymo_bvprintf(log, sample->format, sample->args, sample->arg_count), (int)size);
  assert_int_equal(kymo_log_flush(log), 0);
  FILE *file = fopen(below("log_thread0"), "rb");
  if (size || file) {
    assert_non_null(file);
    fseek(file, -(long)size, SEEK_END);
    assert_int_equal(fread(got, 1, sizeof got, file), size);
    fclose(file);
  }
  if (memcmp(got, sample->bytes, size) != 0)
    fprintf(stderr, "format: %s\n", sample->format);
  assert_memory_equal(got, sample->bytes, size);
}

static void run(size_t most) {
  struct kymo_log *log = kymo_log_open(below("log"), &(struct kymo_log_options){.event_bytes_max = most});
  static struct sample sample;
  assert_non_null(log);
  for (int i = 0; i < FORMATS; i++) {
    make(&sample);
    check(&sample, log, most);
  }
  assert_int_equal(kymo_log_close(log), 0);
  remove(below("log_thread0"));
}

static void what_is_stored_is_what_was_given(void **state) {
  (void)state;
  run(8000);
}

static void cut_events_end_at_a_boundary(void **state) {
  (void)state;
  run(100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_stored_is_what_was_given),
                                     cmocka_unit_test(cut_events_end_at_a_boundary)};
  return cmocka_run_group_tests(tests, make_top, remove_top);
}
