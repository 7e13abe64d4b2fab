/* SPDX-License-Identifier: MIT */
/* What the recorder makes of texts: arguments of macros as written, patterns, sizes, places; and the
 * clock. */
#include "ring_memory.h"

#include "ring/clock.h"
#include "record/describe.h"
#include "record/options.h"
#include "base/pattern.h"
#include "ring/pools.h"
#include <errno.h>
#include <fcntl.h>
#include <kymo/trace.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/* ---- arguments as written ---- */

static bool parse(struct kymo_point_text *out, const char *written, uint16_t count, uint16_t flags) {
  static const uint64_t codes[KYMO_FIELDS_MAX + 1];
  static char text[1024]; /* the file name stays in it */
  struct kymo_tracepoint point = {.line = 7, .count = count, .flags = flags};
  int length = snprintf(text, sizeof text, "%s%cfile.c", written, 0);
  return kymo_point_parse(out, &point, codes, text, (size_t)length + 1);
}

/* The names of the fields, separated by blanks. */
static const char *fields_of(const char *written, uint16_t count) {
  static char names[2048];
  struct kymo_point_text point;
  names[0] = 0;
  if (!parse(&point, written, count, 0))
    return "refused";
  for (uint32_t i = 0; i < point.count; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", point.field[i]);
  return names;
}

static void a_point_is_named_by_its_first_two_arguments(void **state) {
  (void)state;
  struct kymo_point_text point;
  assert_true(parse(&point, "net, rx, port", 1, 0));
  assert_string_equal(point.name, "net:rx");
  assert_string_equal(point.file, "file.c");
  assert_int_equal(point.line, 7);
  assert_true(parse(&point, "  net ,\trx ", 0, 0));
  assert_string_equal(point.name, "net:rx");
  assert_true(parse(&point, "app.trace.string, text", 1, KYMO_POINT_NAMED_));
  assert_string_equal(point.name, "app.trace.string");
}

static void expressions_become_identifiers(void **state) {
  (void)state;
  assert_string_equal(fields_of("g, n, port, p->port, v[3], a.b.c", 4), "port p_port v_3 a_b_c");
  assert_string_equal(fields_of("g, n, (unsigned)s.bits, *p, &x, -y, !z", 5), "unsigned_s_bits p x y z");
  assert_string_equal(fields_of("g, n, 5, 'c', \"t\", ','", 4), "v5 c t field4");
  assert_string_equal(fields_of("g, n, _under, under_", 2), "_under under_");
}

static void commas_within_brackets_and_quotes_do_not_separate(void **state) {
  (void)state;
  assert_string_equal(fields_of("g, n, f(a, b), v[i, j], ((x), (y))", 3), "f_a_b v_i_j x_y");
  assert_string_equal(fields_of("g, n, f(\"a,b\", ')'), c", 2), "f_a_b c");
  assert_string_equal(fields_of("g, n, \"quo\\\"te, still\", d", 2), "quo_te_still d");
  assert_string_equal(fields_of("g, n, '\\'', e", 2), "field1 e");
  assert_string_equal(fields_of("g, n, (int[]){1, 2}[0], h", 2), "int_1_2_0 h");
}

static void wrappers_name_their_field(void **state) {
  (void)state;
  assert_string_equal(
      fields_of("g, n, KYMO_AS(port, p->port), KYMO_HEX( flags , f(1, 2)), KYMO_STRN(s, t, n)", 3),
      "port flags s");
  assert_string_equal(fields_of("g, n, KYMO_BLOB_FIXED(b, p, n, 16), KYMO_ARRAY(a, v, c)", 2), "b a");
}

static void equal_names_are_numbered(void **state) {
  (void)state;
  assert_string_equal(fields_of("g, n, len, len, len", 3), "len len_2 len_3");
  assert_string_equal(fields_of("g, n, x, KYMO_AS(x_2, 1), x", 3), "x x_2 x_3");
  assert_string_equal(fields_of("g, n, a+b, a-b, a*b", 3), "a_b a_b_2 a_b_3");
}

static void long_names_are_cut_and_stay_different(void **state) {
  (void)state;
  char written[400] = "g, n, ";
  struct kymo_point_text point;
  for (int field = 0; field < 3; field++) {
    for (int i = 0; i < 100; i++)
      strncat(written, "x", sizeof written - strlen(written) - 1);
    strncat(written, field < 2 ? ", " : "", sizeof written - strlen(written) - 1);
  }
  assert_true(parse(&point, written, 3, 0));
  for (int i = 0; i < 3; i++) {
    assert_true(strlen(point.field[i]) < sizeof point.field[i]);
    for (int j = 0; j < i; j++)
      assert_string_not_equal(point.field[i], point.field[j]);
  }
}

static void texts_that_no_macro_writes_are_refused(void **state) {
  (void)state;
  struct kymo_point_text point;
  static const uint64_t codes[KYMO_FIELDS_MAX + 1];
  assert_string_equal(fields_of("", 0), "refused");
  assert_string_equal(fields_of("g, n", 1), "refused"); /* a field without text */
  assert_string_equal(fields_of("g, n, a", 2), "refused");
  assert_string_equal(fields_of("g, n", KYMO_FIELDS_MAX + 1), "refused");
  struct kymo_tracepoint plain = {.count = 1};
  char *open = malloc(6); /* no zero within the size: nothing after it is read */
  assert_non_null(open);
  memcpy(open, "g,n,xy", 6);
  assert_false(kymo_point_parse(&point, &plain, codes, open, 6));
  free(open);
}

/* ---- formats ---- */

/* What the codes become; "wrong" where the format does not fit. `types` are letters: i nt, s tring, f loat, p
 * ointer, w ide string. */
static const char *fitted(const char *format, const char *types) {
  static char out[512];
  char text[600];
  uint64_t codes[KYMO_FIELDS_MAX];
  uint16_t count = (uint16_t)strlen(types);
  int length = snprintf(text, sizeof text, "g, n, format");
  for (uint32_t i = 0; i < count; i++) {
    codes[i] = types[i] == 'i'   ? KYMO_TYPE_SIGNED_ | 4
               : types[i] == 's' ? KYMO_TYPE_TEXT_
               : types[i] == 'f' ? KYMO_TYPE_FLOAT_ | 8
                                 : (types[i] == 'w' ? KYMO_CODE_WIDE_ : 0) | KYMO_TYPE_POINTER_ | 8;
    length += snprintf(text + length, sizeof text - (size_t)length, ", a%u", i);
  }
  length += snprintf(text + length + 1, sizeof text - (size_t)length - 1, "%s%cfile.c", format, 0) + 1;
  struct kymo_point_text point;
  if (!kymo_point_parse(&point, &(struct kymo_tracepoint){.count = count, .flags = KYMO_POINT_PRINTF_}, codes,
                        text, (size_t)length + 1))
    return "refused";
  assert_string_equal(point.format, format);
  assert_string_equal(point.file, "file.c");
  if (point.wrong)
    return point.wrong;
  out[0] = 0;
  for (uint32_t i = 0; i < point.count; i++) {
    uint32_t limit = (uint32_t)(point.code[i] >> 32), type = (uint32_t)point.code[i] & 0xf0;
    size_t end = strlen(out);
    const char *name = type == KYMO_TYPE_SIGNED_  ? "i"
                       : type == KYMO_TYPE_TEXT_  ? "s"
                       : type == KYMO_TYPE_FLOAT_ ? "f"
                                                  : "p";
    if (limit >= KYMO_LIMIT_WIDE_)
      snprintf(out + end, sizeof out - end, "%s%c", name,
               limit == KYMO_LIMIT_GIVEN_  ? '*'
               : limit == KYMO_LIMIT_WIDE_ ? 'w'
                                           : '&');
    else
      snprintf(out + end, sizeof out - end, limit ? "%s%u" : "%s", name, limit - 1);
  }
  return out;
}

static void formats_tell_how_much_of_a_text_is_stored(void **state) {
  (void)state;
  assert_string_equal(fitted("%d %s %.5s %.s", "isss"), "iss5s0");
  assert_string_equal(fitted("%*d %.*s %*.*s", "iiisiis"), "iiis*iis*");
  assert_string_equal(fitted("%p %p %s", "sps"), "p&ps");
  assert_string_equal(fitted("%ls %S %p %.3ls %.*ls %s", "wwwwiws"), "swswps3is*s");
  assert_string_equal(fitted("100%% %m %d %m", "i"), "ii");
  assert_string_equal(fitted("more than is printed", "i"), "i");
}

static void formats_that_do_not_fit_are_refused(void **state) {
  (void)state;
  assert_string_equal(fitted("%d %d", "i"), "more conversions than arguments");
  assert_string_equal(fitted("%d", "s"), "an integer's conversion for no integer");
  assert_string_equal(fitted("%f", "i"), "a float's conversion for no float");
  assert_string_equal(fitted("%s", "i"), "%s for no text of char");
  assert_string_equal(fitted("%s", "w"), "%s for no text of char");
  assert_string_equal(fitted("%hs", "s"), "%s for no text of char");
  assert_string_equal(fitted("%ls", "s"), "%ls for no text of wchar_t");
  assert_string_equal(fitted("%ls", "p"), "%ls for no text of wchar_t");
  assert_string_equal(fitted("%p", "i"), "%p for no pointer");
  assert_string_equal(fitted("%*d", "si"), "* for no int");
  assert_string_equal(fitted("%ln", "p"), "%n, which stores a number where a pointer says");
  assert_string_equal(fitted("%1$d", "i"), "a numbered argument, which is POSIX and not C");
  assert_string_equal(fitted("%*1$d", "ii"), "a numbered argument, which is POSIX and not C");
  assert_string_equal(fitted("%d %k", "ii"), "a conversion that is not known");
  assert_string_equal(fitted("%*", "ii"), "a conversion without its letter");
  assert_string_equal(fitted("50%", "i"), "a conversion without its letter");
  assert_string_equal(fitted("%70000d", "i"), "a width or precision above 65536");
}

/* An untrusted program's section may contain anything: every prefix and many mutations of a valid text. */
static void untrusted_texts_stay_in_bounds(void **state) {
  (void)state;
  static const char sound[] = "net, rx, KYMO_HEX(flags, p->flags), \"te,xt\", f(a, (b)), 'c'\0file.c";
  static const uint64_t codes[KYMO_FIELDS_MAX + 1];
  uint64_t seed = 1;
  for (int round = 0; round < 40000; round++) {
    size_t size = round < (int)sizeof sound ? (size_t)round : sizeof sound;
    char *text = malloc(size + !size);
    assert_non_null(text);
    memcpy(text, sound, size);
    for (int change = 0; size && change < round % 7; change++) {
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
      text[(seed >> 33) % size] = "(){}[]\"'\\,_ \0aK)"[seed >> 60];
    }
    struct kymo_tracepoint point = {.count = (uint16_t)(round % 18),
                                    .flags = (uint16_t)(round % 2 | (round % 5 ? 0 : KYMO_POINT_PRINTF_))};
    struct kymo_point_text out;
    if (kymo_point_parse(&out, &point, codes, text, size))
      for (uint32_t i = 0; i < out.count; i++)
        assert_true(out.field[i][0] && strlen(out.field[i]) < sizeof out.field[i]);
    free(text);
  }
}

/* ---- patterns ---- */

static bool matches(const char *text, const char *name) {
  const char *wrong = "";
  struct kymo_patterns *patterns = kymo_patterns_new(text, &wrong);
  assert_non_null(patterns);
  bool on = kymo_patterns_match(patterns, name);
  kymo_patterns_free(patterns);
  return on;
}

static void patterns_choose_names(void **state) {
  (void)state;
  static const struct {
    const char *text, *name;
    bool on;
  } cases[] = {
      {"*", "a:b", true},
      {"a:b", "a:b", true},
      {"a:b", "a:bc", false},
      {"a", "a:b", true},
      {"a", "ab:c", false},
      {"a*", "ab:c", true},
      {"*:c", "ab:c", true},
      {"a:*", "b:a", false},
      {"x,a:b", "a:b", true},
      {"!a:b", "a:b", false},
      {"!a:b", "a:c", true},
      {"*,!a", "a:b", false},
      {"!a,*", "a:b", false},
      {"re:^a:[bc]$", "a:c", true},
      {"re:^a:[bc]$", "a:cd", false},
      {"re:b", "abc:d", true},
      {"!re:b", "abc:d", false},
      {"", "a:b", false},
      {",,", "a:b", false},
      {" a:b ", "a:b", true},
      {"app.*", "app.x.y", true},
      {"app", "app.x", false},
      {"!", "a:b", false},
      {"re:", "re:", true},
      {"a:?", "a:b", true},
      {"a:[!b]", "a:b", false},
      {"a:[^b]", "a:b", false},
      {"a:\\*", "a:*", true},
      {"a:\\*", "a:b", false},
      {"a?", "ab:c", true},
      {"re:^[[:alpha:]_]+:[[:digit:]]+$", "a_b:12", true},
      {"re:^[[:alpha:]]+:", "a1:b", false},
      {"re:^(a|b)?c{2}:\\.", "acc:.", true},
      {"re:", "a:b", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (matches(cases[i].text, cases[i].name) != cases[i].on && strcmp(cases[i].text, "!"))
      fail_msg("\"%s\" on %s", cases[i].text, cases[i].name);
}

static void is_refused(const char *text, const char *because) {
  const char *wrong = NULL;
  assert_null(kymo_patterns_new(text, &wrong));
  assert_string_equal(wrong, because);
}

static void wrong_patterns_are_refused(void **state) {
  (void)state;
  is_refused("a,re:(", "a parenthesis that is not closed");
  is_refused("re:a)", "a parenthesis that was not opened");
  is_refused("!re:[a", "a bracket that is not closed");
  is_refused("a:[b", "a bracket that is not closed");
  is_refused("re:(a)\\1", "no references back");
  is_refused("re:[[:letter:]]",
             "a class that is not known; [:alnum:], [:alpha:], [:digit:], [:space:] … are");
  is_refused("re:((a{900}){900}){900}", "a pattern of more than 4096 steps");
  is_refused("re:a{4000}", "repetitions are {n}, {n,} or {n,m}, at most 1000");
  is_refused("re:(a{1000}){3},re:(b{1000}){4},re:(c{1000}){4},re:(d{1000}){4},re:(d{1000}){4}",
             "patterns of more than 16384 steps together");
}

/* `count` times `piece`, after `begin`, then `count` times `end`. */
static char *repeated(const char *begin, const char *piece, const char *end, size_t count) {
  char *text = malloc(strlen(begin) + (strlen(piece) + strlen(end)) * count + 1), *at = text;
  assert_non_null(text);
  at = stpcpy(at, begin);
  for (size_t i = 0; i < count; i++)
    at = stpcpy(at, piece);
  for (size_t i = 0; i < count; i++)
    at = stpcpy(at, end);
  return text;
}

static void *try_patterns(void *refused) {
  static const struct {
    const char *begin, *piece, *end;
    size_t count;
  } cases[] = {
      {"re:", "(", "", 200},
      {"re:", "(", "", 30000},
      {"re:", "(", ")", 30000},
      {"re:", "(x|", ")*", 64},
      {"re:", "(a)?", "", 1500},
      {"re:", "a|", "", 30000},
      {"re:", "name|", "", 2000},
      {"re:", "(a|b*)*", "", 800},
      {"re:", "((((a?)*)+)?)*", "", 60},
      {"re:", "a{0}", "", 8000},
      {"re:", "\\", "", 9999},
      {"re:", "[", "]", 5000},
      {"", "*a", "", 2000},
      {"", "[a", "", 5000},
      {"re:", "(?:[^x].\\w{2}", "){0,2}", 5},
      {"re:", "((a{0}){1000}", "){1000}", 60},
      {"re:", "a", "", 60000},
  };
  char name[257];
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *wrong = NULL;
    char *text = repeated(cases[i].begin, cases[i].piece, cases[i].end, cases[i].count);
    struct kymo_patterns *patterns = kymo_patterns_new(text, &wrong);
    if (patterns)
      kymo_patterns_match(patterns, name);
    else if (wrong && wrong[0])
      ++*(size_t *)refused;
    kymo_patterns_free(patterns);
    free(text);
  }
  return NULL;
}

/* The recorder's control thread has 128 KiB, in a program that never asked for it. */
static void any_pattern_fits_on_a_small_stack(void **state) {
  (void)state;
  pthread_attr_t small;
  pthread_t thread;
  size_t refused = 0;
  pthread_attr_init(&small);
  assert_int_equal(pthread_attr_setstacksize(&small, 128 << 10), 0);
  assert_int_equal(pthread_create(&thread, &small, try_patterns, &refused), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&small);
  assert_true(refused >= 8);
}

/* Matched step by step, this takes 2^50 of them. */
static void globs_and_expressions_match_in_linear_time(void **state) {
  (void)state;
  char name[257];
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = 0;
  char *glob = repeated("", "*a", "", 60), *expression = repeated("re:^", "(a*)*", "", 60);
  glob[strlen(glob) - 1] = 'b';
  expression[strlen(expression) - 1] = 'b';
  assert_false(matches(glob, name));
  assert_false(matches(expression, name));
  free(glob);
  free(expression);
}

/* ---- sizes ---- */

static void sizes_are_rounded_up_and_bounded(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t bytes;
  } cases[] = {{"16k", 16384},
               {"16384", 16384},
               {"16385", 32768},
               {"1M", 1 << 20},
               {"1m", 1 << 20},
               {"0x8000", 32768},
               {"1G", 1 << 30},
               {"1024M", 1 << 30},
               {"", 0},
               {"k", 0},
               {"16", 0},
               {"15k", 0},
               {"1025M", 0},
               {"2G", 0},
               {"-16k", 0},
               {"16kk", 0},
               {"16 k", 0},
               {"99999999999999999999", 0},
               {"18446744073709551615G", 0},
               {"4194304G", 0},
               {"1e6", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t bytes = 0;
    bool ok = kymo_options_size(cases[i].text, &bytes);
    if (ok != (cases[i].bytes != 0) || (ok && bytes != cases[i].bytes))
      fail_msg("\"%s\" gives %u", cases[i].text, bytes);
  }
}

/* ---- places ---- */

static void a_trace_takes_a_missing_or_an_empty_directory(void **state) {
  (void)state;
  char scratch[4096], asked[4200], out[KYMO_PATH_MAX];
  scratch_directory(scratch);
  assert_true(kymo_trace_place(out, scratch, NULL, "n"));
  assert_string_equal(out, scratch);
  snprintf(asked, sizeof asked, "%s/a/b", scratch);
  assert_true(kymo_trace_place(out, asked, NULL, "n"));
  assert_false(kymo_trace_place(out, scratch, NULL, "n"));
  assert_int_equal(errno, ENOTEMPTY);
  write_file(asked, "file", "x", 1);
  snprintf(asked, sizeof asked, "%s/a/b/file", scratch);
  assert_false(kymo_trace_place(out, asked, NULL, "n"));
  assert_int_equal(errno == ENOTDIR || errno == EEXIST || errno == ENOTEMPTY, 1);
  /* the failed tracepoint is named, even if its name was not complete */
  memset(out, 'x', sizeof out);
  assert_false(kymo_trace_place(out, NULL, asked, "n"));
  assert_int_equal(strncmp(out, asked, strlen(asked)), 0);
  char long_name[2000];
  memset(long_name, 'n', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  memset(out, 'x', sizeof out);
  assert_false(kymo_trace_place(out, NULL, scratch, long_name));
  assert_int_equal(errno, ENAMETOOLONG);
  assert_int_equal(strncmp(out, scratch, strlen(scratch)), 0);
  assert_true(strlen(out) < sizeof out);
  unlink(asked);
  remove_file(scratch, "a/b");
  remove_file(scratch, "a");
  rmdir(scratch);
}

/* A pool file in SCRATCH/NAME. */
static void make_pool_in(const char *scratch, const char *name, const struct kymo_pool_header *h) {
  char path[4200];
  uint64_t size = h->header_size + h->slots * h->slot_size;
  uint8_t *file = calloc(1, size);
  assert_non_null(file);
  memcpy(file, h, sizeof *h);
  snprintf(path, sizeof path, "%s/%s", scratch, name);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(path, KYMO_POOL_FILE, file, size);
  free(file);
}

static void pools_of_living_and_unreadable_processes_are_not_cleaned(void **state) {
  (void)state;
  static const struct {
    const char *name;
    bool is_ours, is_before, is_elsewhere, is_locked, is_held, is_damaged, stays;
  } cases[] = {
      {.name = "dead"},
      {.name = "ours", .is_ours = true, .stays = true},
      {.name = "number-used-again", .is_ours = true, .is_before = true},
      {.name = "damaged", .is_damaged = true, .stays = true},
      {.name = "child-of-dead", .is_locked = true, .is_held = true},
      {.name = "elsewhere", .is_elsewhere = true, .is_locked = true, .is_held = true, .stays = true},
      {.name = "elsewhere-same-number", .is_ours = true, .is_elsewhere = true, .is_locked = true},
      {.name = "elsewhere-unknown", .is_elsewhere = true, .stays = true},
  };
  enum { COUNT = sizeof cases / sizeof *cases };
  char scratch[4096], path[4200];
  int held[COUNT];
  scratch_directory(scratch);
  for (int i = 0; i < COUNT; i++) {
    struct kymo_pool_header h = sound_header();
    h.pid = cases[i].is_ours ? getpid() : 1 << 30;
    h.start_time = 1;
    if (cases[i].is_ours && !cases[i].is_before)
      assert_true(kymo_process_start_time(getpid(), &h.start_time));
    h.packets = cases[i].is_damaged ? 3 : T_PACKETS;
    h.pid_namespace = kymo_pid_namespace() + cases[i].is_elsewhere;
    h.is_locked = cases[i].is_locked;
    make_pool_in(scratch, cases[i].name, &h);
    snprintf(path, sizeof path, "%s/%s/" KYMO_POOL_FILE, scratch, cases[i].name);
    held[i] = open(path, O_RDWR | O_CLOEXEC);
    assert_true(held[i] >= 0);
    assert_int_equal(cases[i].is_held && !kymo_life_hold(held[i]), 0);
  }
  assert_int_equal(kymo_pool_clean(scratch, "other", 0), 0);
  assert_int_equal(kymo_pool_clean(scratch, "test", 0), 4);
  for (int i = 0; i < COUNT; i++) {
    snprintf(path, sizeof path, "%s/%s", scratch, cases[i].name);
    if ((access(path, F_OK) == 0) != cases[i].stays)
      fail_msg("%s", cases[i].name);
    close(held[i]);
    kymo_pool_delete(path);
  }
  rmdir(scratch);
}

/* The lock is the mapping's, so that a daemon may close all descriptors. */
static void a_mapping_holds_the_lock_of_the_living(void **state) {
  (void)state;
  char scratch[4096], path[4200];
  scratch_directory(scratch);
  write_file(scratch, "file", "x", 1);
  snprintf(path, sizeof path, "%s/file", scratch);
  int fd = open(path, O_RDWR | O_CLOEXEC), other = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0 && other >= 0);
  assert_int_equal(kymo_life_by_lock(other), KYMO_LIFE_DEAD);
  assert_true(kymo_life_hold(fd));
  void *m = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
  assert_ptr_not_equal(m, MAP_FAILED);
  assert_int_equal(kymo_life_by_lock(other), KYMO_LIFE_ALIVE);
  close(fd);
  if (kymo_life_by_lock(other) == KYMO_LIFE_DEAD)
    print_message("not on this file system\n");
  munmap(m, 1);
  assert_int_equal(kymo_life_by_lock(other), KYMO_LIFE_DEAD);
  close(other);
  unlink(path);
  rmdir(scratch);
}

/* Links, FIFOs and files of another kind in the place of ours: nothing is followed, waited for or removed. */
static void cleaning_follows_no_links_and_waits_for_nothing(void **state) {
  (void)state;
  char scratch[4096], path[4400], target[4200];
  struct kymo_pool_header h = sound_header();
  h.pid_namespace = kymo_pid_namespace();
  scratch_directory(scratch);
  snprintf(target, sizeof target, "%s/victim", scratch);
  assert_int_equal(mkdir(target, 0700), 0);
  snprintf(path, sizeof path, "%s/victim/base", scratch);
  assert_int_equal(mkdir(path, 0700), 0);
  make_pool_in(target, "kept", &h);
  snprintf(path, sizeof path, "%s/trace", target);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(path, "registry", "x", 1);
  snprintf(path, sizeof path, "%s/base", target);
  make_pool_in(path, "linked-inside", &h);
  snprintf(path, sizeof path, "%s/base/linked-inside/" KYMO_HIDDEN, target);
  assert_int_equal(symlink("../../trace", path), 0);
  snprintf(path, sizeof path, "%s/base/link", target);
  assert_int_equal(symlink("../kept", path), 0);
  for (int i = 0; i < 2; i++) { /* a FIFO as the pool, and as its rings */
    snprintf(path, sizeof path, "%s/base/fifo%s", target, i ? "-rings" : "");
    assert_int_equal(i ? mkdir(path, 0700) : mkfifo(path, 0600), 0);
  }
  snprintf(path, sizeof path, "%s/base/fifo-rings/" KYMO_POOL_FILE, target);
  assert_int_equal(mkfifo(path, 0600), 0);
  snprintf(path, sizeof path, "%s/base", target);
  assert_int_equal(kymo_pool_clean(path, "test", 0), 0);
  assert_int_equal(kymo_pool_clean(path, NULL, 0), 0);
  snprintf(path, sizeof path, "%s/base/link", target);
  kymo_pool_delete(path);
  snprintf(path, sizeof path, "%s/kept/" KYMO_POOL_FILE, target);
  assert_int_equal(access(path, F_OK), 0);
  snprintf(path, sizeof path, "%s/base/linked-inside", target);
  kymo_pool_delete(path);
  snprintf(path, sizeof path, "%s/trace/registry", target);
  assert_int_equal(access(path, F_OK), 0);
  char command[8500];
  snprintf(command, sizeof command, "rm -rf '%s'", scratch);
  assert_int_equal(system(command), 0);
}

/* ---- clock ---- */

static uint64_t nanoseconds(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t real_time_of(const struct kymo_session_clock *clock, uint64_t value) {
  uint64_t cycles = value % clock->frequency + clock->offset_cycles;
  return ((uint64_t)clock->offset_seconds + value / clock->frequency + cycles / clock->frequency) *
             1000000000 +
         (uint64_t)((double)(cycles % clock->frequency) * 1e9 / (double)clock->frequency);
}

/* Times of events lie where the wall clock was when they were taken, to a millisecond. */
static void stamps_lie_within_the_wall_clock_around_them(void **state) {
  (void)state;
  for (int counter = 0; counter < 2; counter++) {
    struct kymo_session_clock clock = {0};
    kymo_session_clock_start(&clock, counter ? KYMO_CLOCK_COUNTER : KYMO_CLOCK_MONOTONIC, NULL);
    assert_true(clock.frequency >= 1000000);
    for (int i = 0; i < 20; i++) {
      uint64_t before = nanoseconds(CLOCK_REALTIME),
               stamp = real_time_of(&clock, kymo_session_clock_read(&clock)),
               after = nanoseconds(CLOCK_REALTIME);
      if (stamp + 1000000 < before || stamp > after + 1000000)
        fail_msg("clock %d: %lld ns beside", counter, (long long)(stamp - before));
      nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
  }
}

static void pitfall_15_one_calibration_serves_all_processes_of_a_boot(void **state) {
  (void)state;
  char scratch[4096];
  struct kymo_session_clock first = {0}, second = {0};
  scratch_directory(scratch);
  kymo_session_clock_start(&first, KYMO_CLOCK_COUNTER, scratch);
  uint64_t before = nanoseconds(CLOCK_MONOTONIC);
  kymo_session_clock_start(&second, KYMO_CLOCK_COUNTER, scratch);
  uint64_t took = nanoseconds(CLOCK_MONOTONIC) - before;
  assert_int_equal(first.frequency, second.frequency);
  if (first.is_counter)
    assert_true(took < 40000000);
  remove_file(scratch, "clock");
  write_file(scratch, "clock", "nonsense 1 2 3\n", 15); /* damage is no calibration */
  kymo_session_clock_start(&second, KYMO_CLOCK_COUNTER, scratch);
  if (first.is_counter)
    assert_true(second.frequency / 100 - first.frequency / 100 + 5000 < 10000 || second.frequency > 1000000);
  remove_file(scratch, "clock");
  rmdir(scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_point_is_named_by_its_first_two_arguments),
      cmocka_unit_test(expressions_become_identifiers),
      cmocka_unit_test(commas_within_brackets_and_quotes_do_not_separate),
      cmocka_unit_test(wrappers_name_their_field),
      cmocka_unit_test(equal_names_are_numbered),
      cmocka_unit_test(long_names_are_cut_and_stay_different),
      cmocka_unit_test(texts_that_no_macro_writes_are_refused),
      cmocka_unit_test(untrusted_texts_stay_in_bounds),
      cmocka_unit_test(formats_tell_how_much_of_a_text_is_stored),
      cmocka_unit_test(formats_that_do_not_fit_are_refused),
      cmocka_unit_test(patterns_choose_names),
      cmocka_unit_test(wrong_patterns_are_refused),
      cmocka_unit_test(any_pattern_fits_on_a_small_stack),
      cmocka_unit_test(globs_and_expressions_match_in_linear_time),
      cmocka_unit_test(sizes_are_rounded_up_and_bounded),
      cmocka_unit_test(a_trace_takes_a_missing_or_an_empty_directory),
      cmocka_unit_test(pools_of_living_and_unreadable_processes_are_not_cleaned),
      cmocka_unit_test(a_mapping_holds_the_lock_of_the_living),
      cmocka_unit_test(cleaning_follows_no_links_and_waits_for_nothing),
      cmocka_unit_test(stamps_lie_within_the_wall_clock_around_them),
      cmocka_unit_test(pitfall_15_one_calibration_serves_all_processes_of_a_boot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
