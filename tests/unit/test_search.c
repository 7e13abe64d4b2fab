/* SPDX-License-Identifier: MIT */
/*
 * Going to a time in files that are sorted by their description: by a search where records have one size and
 * do not depend on each other, by a walk elsewhere; the reached position is the same, and so are the events
 * around it.
 */
#include "folder.h"
#include "plan/search.h"
#include "plan/sections.h"
#include "random_schema.h"
#include "rounds.h"
#include <kymo/move.h>
#include <kymo/read.h>
#include <kymo/time.h>
#include <sys/resource.h>

/* ---- files ---- */

#define RECORD 16u /* bytes of each: a time, a number, two spare */

static struct kymo_schema *compile(const char *text) {
  struct kymo_error error = {.code = KYMO_OK};
  struct kymo_schema *key;
  if (kymo_description_compile(&key, text, strlen(text), "t.tdl", "tdl", &error) != KYMO_OK)
    fail_msg("%s in %s", error.message, text);
  return key;
}

static struct kymo_trace *open_file(struct kymo_schema *key, const char *name) {
  struct kymo_trace_options options = {.description = key};
  struct kymo_error error = {.code = KYMO_OK};
  const char *path = below(name);
  struct kymo_trace *trace;
  if (kymo_trace_open(&trace, &path, 1, &options, &error) != KYMO_OK)
    fail_msg("%s", error.message);
  return trace;
}

static void store(uint8_t *at, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++)
    at[i] = (uint8_t)(value >> (8 * i));
}

/* What a trace gives from start to end. */
struct walk {
  uint64_t count;
  int64_t *times;
};

static struct walk walk(struct kymo_trace *trace) {
  struct walk walk = {0};
  struct kymo_error error;
  const struct kymo_event *event;
  uint64_t count, i = 0;
  assert_int_equal(kymo_trace_count_events(trace, &count, &error), KYMO_OK);
  walk.times = calloc((size_t)count + 1, sizeof *walk.times);
  assert_non_null(walk.times);
  walk.count = count;
  assert_int_equal(kymo_trace_rewind(trace), KYMO_OK);
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK && i < count)
    walk.times[i++] = event->time_ns;
  assert_int_equal(i, count);
  return walk;
}

/* The number of the first event that is not before a time, from 0. An event without a time has the place of
 * the one before it, and the first of all has place 0. */
static uint64_t first_at(const struct walk *walk, int64_t time_ns) {
  int64_t place_ns = 0;
  for (uint64_t i = 0; i < walk->count; i++) {
    if (walk->times[i] != INT64_MIN)
      place_ns = walk->times[i];
    if (place_ns >= time_ns)
      return i;
  }
  return walk->count;
}

/* The reached position: events after it, events before it, its number. */
static void expect_at(struct kymo_trace *trace, const struct walk *walk, uint64_t at, bool looks_around) {
  struct kymo_error error;
  const struct kymo_event *event;
  uint64_t number, ahead = at;
  for (; ahead < walk->count && ahead < at + (looks_around ? 2500 : 3); ahead++) {
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, walk->times[ahead]);
  }
  if (ahead == walk->count)
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_END);
  for (uint64_t i = ahead == walk->count ? ahead : ahead - 1; looks_around && i-- > 0 && i + 2500 > at;) {
    assert_int_equal(kymo_trace_previous(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, walk->times[i]);
    if (i + 2100 == at) {
      assert_int_equal(kymo_trace_get_number(trace, event, &number, &error), KYMO_OK);
      assert_int_equal(number, i + 1);
    }
  }
}

/* From anywhere to anywhere: by times that are there, between others, and beyond all; and by numbers. */
static void compare_with_walk(struct kymo_schema *key, const char *name) {
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_trace *read = open_file(key, name), *trace = open_file(key, name);
  struct walk all = walk(read);
  for (unsigned turn = 0; turn < rounds(40); turn++) {
    int64_t time_ns = all.count ? all.times[random_below(all.count)] + (int64_t)random_below(3) - 1 : 0;
    if (turn < 6)
      time_ns = (int64_t[]){INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX}[turn];
    assert_int_equal(kymo_trace_goto_time(trace, time_ns, &error), KYMO_OK);
    expect_at(trace, &all, first_at(&all, time_ns), turn % 10 == 9);
    if (turn % 7 == 0 && all.count) {
      uint64_t number = random_below(all.count) + 1;
      assert_int_equal(kymo_trace_goto_event(trace, number, &event, &error), KYMO_OK);
      assert_int_equal(event->time_ns, all.times[number - 1]);
      expect_at(trace, &all, number, false);
    }
  }
  assert_int_equal(kymo_trace_goto_time(trace, INT64_MIN, &error),
                   KYMO_OK); /* damage is known where the file was read */
  while (kymo_trace_next(trace, &event, &error) == KYMO_OK)
    continue;
  assert_int_equal(kymo_trace_damage_count(trace), kymo_trace_damage_count(read));
  free(all.times);
  kymo_trace_close(read);
  kymo_trace_close(trace);
}

/* Bytes of the records of the last step of the layout, if it can be searched; else 0. */
static uint64_t searched_bytes(const struct kymo_schema *schema) {
  struct kymo_error error;
  struct kymo_plan *plan = kymo_plan_open(schema, "key", &error);
  assert_non_null(plan);
  uint64_t bytes = kymo_plan_region_bytes(plan, plan->steps[KYMO_PLAN_COUNT(plan, STEP) - 1].dispatch);
  kymo_plan_close(plan);
  return bytes;
}

/* How a file is written: after a header, `count` records whose times increase by less than `step` each, some
 * up to `apart` too early, and some more bytes. */
struct sort {
  const char *text;
  uint32_t header, count;
  uint64_t step, apart;
  uint32_t tail;
};

static void write_records(const char *name, const struct sort *sort, uint32_t record) {
  size_t size = sort->header + (size_t)sort->count * record;
  uint8_t *bytes = calloc(size + sort->tail + 1, 1);
  uint64_t time = 1000;
  assert_non_null(bytes);
  store(bytes, 7, sort->header < 4 ? sort->header : 4);
  for (uint32_t i = 0; i < sort->count; i++) {
    uint8_t *at = bytes + sort->header + (size_t)i * record;
    store(at, time - (sort->apart ? random_below(sort->apart) : 0), 8);
    store(at + 8, i, 4);
    store(at + 12, random_below(300) != 0, 1);
    time += random_below(sort->step);
  }
  memset(bytes + size, 0xff, sort->tail);
  write_file(name, bytes, size + sort->tail);
  free(bytes);
}

/* ---- where one comes out ---- */

#define HEAD "TRACE t; BYTES LITTLE; CLOCK c IS;\n"
#define TIME "ACQUISITION: UNSIGNED 64 TIME c POINT; n: UNSIGNED 32; "
#define ONE "RECORD r EVENT IS " TIME "k: UNSIGNED 8; FILLER 3 BYTES; END;\n"

static void a_search_finds_what_a_walk_finds(void **state) {
  (void)state;
  static const struct sort sorts[] = {
      /* of six cells of 32 KiB, else of three where they are long */
      {HEAD ONE "LAYOUT REPEAT r; SORTED YES; END TRACE.", 0, 12000, 4, 0, 0},
      {HEAD ONE "LAYOUT REPEAT r; SORTED YES; END TRACE.", 0, 6000, 2, 0, 7},
      {HEAD ONE "LAYOUT REPEAT r; SORTED YES; END TRACE.", 0, 6000, 1, 0, 0},
      {HEAD ONE "LAYOUT REPEAT r; SORTED YES; END TRACE.", 0, 3, 4, 0, 15},
      {HEAD ONE "LAYOUT REPEAT r; SORTED YES; END TRACE.", 0, 0, 4, 0, 0},
      {HEAD ONE "LAYOUT REPEAT r; SORTED YES; END TRACE.", 0, 2048, 9, 0, 1},
      {HEAD ONE "LAYOUT REPEAT r; SORTED WITHIN 50 ns; END TRACE.", 0, 6000, 4, 50, 5},
      {HEAD ONE "LAYOUT REPEAT r; SORTED WITHIN 5 us; END TRACE.", 0, 12000, 4, 1000, 0},
      {HEAD ONE "RECORD h CONTROL IS w: UNSIGNED 32; END; LAYOUT h; REPEAT r; SORTED YES; END TRACE.", 4,
       6000, 4, 0, 0},
      {HEAD ONE
       "RECORD h EVENT IS w: UNSIGNED 32; FILLER 9 BYTES; END; LAYOUT h; REPEAT r; SORTED YES; END TRACE.",
       13, 6000, 4, 0, 3},
      {"TRACE t; BYTES LITTLE; CLOCK c IS RATE h.w;\nRECORD h CONTROL IS w: UNSIGNED 32; END;\n" ONE
       "LAYOUT h; REPEAT r; SORTED YES; END TRACE.",
       4, 6000, 4, 0, 0},
      {HEAD ONE "LAYOUT REPEAT r TIMES 5999; SORTED YES; END TRACE.", 0, 6000, 4, 0, 9},
      {HEAD
       "PREFIX p IS " TIME "k: UNSIGNED 8; END;\nRECORD a EVENT WITH p WHEN k=0 IS x: UNSIGNED 24; END;\n"
       "RECORD b EVENT WITH p IS y, z: UNSIGNED 8; FILLER 1 BYTES; END; LAYOUT REPEAT a OR b; SORTED YES; "
       "END TRACE.",
       0, 6000, 4, 0, 2},
      {HEAD "RECORD r EVENT LENGTH 16 IS " TIME
            "s: STRING 2; LET w=n*n; END; LAYOUT REPEAT r; SORTED YES; END TRACE.",
       0, 6000, 4, 0, 0},
      {HEAD
       "RECORD r EVENT IS t: UNSIGNED 64 TIME c POINT; e: UNSIGNED 32 TIME c POINT; d: UNSIGNED 32 TIME c "
       "SPAN; LET w=e/d;\n"
       "END; LAYOUT REPEAT r; SORTED YES; END TRACE.",
       0, 6000, 4, 0, 0},
      {HEAD "RECORD r EVENT IS " TIME
            "a: ARRAY 2 OF UNSIGNED 8; b: UNSIGNED 4; d: UNSIGNED 12; END; LAYOUT REPEAT r; SORTED YES;\n"
            "END TRACE.",
       0, 6000, 4, 0, 0},
  };
  random_seed(71);
  for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
    const struct sort *sort = &sorts[i];
    struct kymo_schema *key = compile(sort->text);
    write_records("file", sort, RECORD);
    if (searched_bytes(key) != RECORD)
      fail_msg("%u bytes of records of %s", (unsigned)searched_bytes(key), sort->text);
    compare_with_walk(key, "file");
    kymo_schema_release(key);
  }
}

/* Items that make records depend on others, or that may end the reading. */
static const char *const tied[] = {
    HEAD "RECORD r EVENT IS n: UNSIGNED 8 LENGTH OF s; s: STRING; ACQUISITION: UNSIGNED 8 TIME c POINT; END; "
         "LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS " TIME "IF n>9 THEN x: UNSIGNED 8; END; END; LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS " TIME "LET sum=r.sum+n; k: UNSIGNED 32; END; LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS " TIME "k: UNSIGNED 32; LET before=r.n; END; LAYOUT REPEAT r;\n",
    HEAD
    "RECORD r EVENT IS ACQUISITION: UNSIGNED 64 TIME c DISTANCE; n: UNSIGNED 64; END; LAYOUT REPEAT r;\n",
    HEAD
    "RECORD r EVENT IS ACQUISITION: UNSIGNED 16 TIME c LOW 16; n: UNSIGNED 48; k: UNSIGNED 64; END; LAYOUT "
    "REPEAT r;\n",
    HEAD "RECORD r EVENT IS " TIME "SEQUENCE: UNSIGNED 32; END; LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS " TIME "LOST: UNSIGNED 32; END; LAYOUT REPEAT r;\n",
    HEAD "TABLE names KEY NUMBER HOLDS NAMES;\nRECORD r EVENT IS " TIME
         "s: STRING 4; DEFINE names[n]=s; END; LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS " TIME "_k: UNSIGNED 32 LENGTH OF PREVIOUS; END; LAYOUT REPEAT r;\n",
    HEAD
    "PREFIX p IS k: UNSIGNED 8; END; RECORD s EVENT WITH p WHEN k=0 IS ACQUISITION: UNSIGNED 64 TIME c "
    "POINT; END;\n"
    "RECORD r EVENT WITH p IS ACQUISITION: UNSIGNED 64 TIME c POINT; x: UNSIGNED 8; END; LAYOUT REPEAT s OR "
    "r;\n",
    HEAD "PREFIX p IS k: UNSIGNED 8; END; RECORD s SEGMENT WITH p WHEN k=0 IS FILLER 8 BYTES; END;\n"
         "RECORD r EVENT WITH p IS ACQUISITION: UNSIGNED 64 TIME c POINT; END; LAYOUT REPEAT s OR r;\n",
    HEAD "PREFIX p IS k: UNSIGNED 8; END; RECORD r EVENT WITH p WHEN k=0 IS ACQUISITION: UNSIGNED 64 TIME c "
         "POINT; END; LAYOUT REPEAT r;\n",
    HEAD ONE "LAYOUT REPEAT r; ON ERROR R6 STOP;\n",
    HEAD ONE "LAYOUT REPEAT r; ON ERROR R4 RESYNC TO x\"ff\";\n",
    HEAD "RECORD r EVENT IS " TIME "k: UNSIGNED 64 TIME c SPAN; END; LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS " TIME "k: UNSIGNED 64 TIME c POINT; END; LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS k: UNSIGNED 64 TIME c POINT; " TIME "END; LAYOUT REPEAT r;\n",
    HEAD "RECORD r EVENT IS ACQUISITION: FLOAT 64 TIME c POINT; k: UNSIGNED 64; END; LAYOUT REPEAT r;\n",
    HEAD ONE "LAYOUT REPEAT r; ON ERROR R10 STOP;\n",
};

static void what_is_tied_to_others_is_walked(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof tied / sizeof *tied; i++) {
    char text[2048];
    snprintf(text, sizeof text, "%sSORTED YES;\nEND TRACE.", tied[i]);
    struct kymo_schema *key = compile(text);
    if (searched_bytes(key) != 0)
      fail_msg("records of %u bytes of %s", (unsigned)searched_bytes(key), text);
    kymo_schema_release(key);
  }
}

/* ---- walks ---- */

#define LONG 512u /* bytes of a record; so there are many packets */
#define REST "k: UNSIGNED 32; rest: BYTES 496; END;\nLAYOUT REPEAT r;"
#define TIED HEAD "RECORD r EVENT IS " TIME "LET sum=r.sum+n; " REST

/* Where only a walk is possible, its result is unchanged. */
static void a_walk_finds_it_too(void **state) {
  (void)state;
  static const char *const texts[] = {
      TIED " SORTED YES; END TRACE.",
      HEAD "RECORD r EVENT IS ACQUISITION: UNSIGNED 64 TIME c POINT; SEQUENCE: UNSIGNED 32; " REST
           " SORTED YES; END TRACE.",
      HEAD "TABLE t KEY NUMBER HOLDS NUMBERS;\nRECORD r EVENT IS " TIME
           "DEFINE t[n%9]=n/4500; LET was=t[7]; " REST " SORTED YES; END TRACE.",
      HEAD "RECORD r EVENT IS " TIME REST " END TRACE.",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct kymo_schema *key = compile(texts[i]);
    struct sort sort = {texts[i], 0, 4500, 4, 0, 3};
    assert_int_equal(searched_bytes(key), i == 3 ? LONG : 0);
    write_records("file", &sort, LONG);
    compare_with_walk(key, "file");
    kymo_schema_release(key);
  }
}

/* Records that were read once are not read again: one that has become a late record would be found. */
static void a_walk_is_made_once(void **state) {
  (void)state;
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_schema *key = compile(TIED " SORTED YES; END TRACE.");
  struct sort sort = {NULL, 0, 20000, 4, 0, 0};
  uint8_t late[8];
  write_records("file", &sort, LONG);
  struct kymo_trace *trace = open_file(key, "file");
  struct walk all = walk(trace);
  int64_t time_ns = all.times[19000];
  assert_int_equal(kymo_trace_goto_time(trace, time_ns, &error), KYMO_OK);
  expect_at(trace, &all, first_at(&all, time_ns), false);
  FILE *file = fopen(below("file"), "r+b");
  assert_non_null(file);
  store(late, 1u << 30, sizeof late);
  assert_int_equal(fseek(file, 10 * (long)LONG, SEEK_SET), 0);
  assert_int_equal(fwrite(late, 1, sizeof late, file), sizeof late);
  assert_int_equal(fclose(file), 0);
  for (uint32_t i = 18990; i > 15000; i -= 700) {
    assert_int_equal(kymo_trace_goto_time(trace, all.times[i], &error), KYMO_OK);
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, all.times[i]);
  }
  free(all.times);
  kymo_trace_close(trace);
  kymo_schema_release(key);
}

/* After the end there is nothing, whatever is remembered of it. */
static void files_may_be_cut_meanwhile(void **state) {
  (void)state;
  static const char *const texts[] = {TIED " SORTED YES; END TRACE.",
                                      HEAD "RECORD r EVENT IS " TIME REST " SORTED YES; END TRACE.",
                                      HEAD "RECORD r EVENT IS " TIME REST " END TRACE."};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct kymo_error error;
    const struct kymo_event *event;
    struct kymo_schema *key = compile(texts[i]);
    struct sort sort = {NULL, 0, 20000, 4, 0, 0};
    write_records("file", &sort, LONG);
    struct kymo_trace *trace = open_file(key, "file");
    struct walk all = walk(trace);
    assert_int_equal(kymo_trace_goto_time(trace, all.times[19000], &error), KYMO_OK);
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    assert_int_equal(truncate(below("file"), 15000 * (off_t)LONG), 0);
    assert_int_equal(kymo_trace_goto_time(trace, all.times[18000], &error), KYMO_OK);
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_END);
    assert_int_equal(kymo_trace_goto_time(trace, all.times[14000], &error), KYMO_OK);
    assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
    assert_int_equal(event->time_ns, all.times[14000]);
    free(all.times);
    kymo_trace_close(trace);
    kymo_schema_release(key);
  }
}

/* ---- how it is found ---- */

#define LARGE 65536u
#define LARGE_COUNT 4096u

/* A quarter of a gigabyte, of which each record has one page. */
static void write_large(const char *name) {
  FILE *file = fopen(below(name), "wb");
  assert_non_null(file);
  for (uint32_t i = 0; i < LARGE_COUNT; i++) {
    uint8_t bytes[12];
    store(bytes, 1000 + 10 * (uint64_t)i, 8);
    store(bytes + 8, i, 4);
    assert_int_equal(fseek(file, (long)i * (long)LARGE, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
  }
  assert_int_equal(fclose(file), 0);
  assert_int_equal(truncate(below(name), (off_t)LARGE * LARGE_COUNT), 0);
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/* Pages that are touched on the way to a time near the end, and to an event before and after that. */
static long faults_of_going(const char *text, const char *name) {
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_schema *key = compile(text);
  struct kymo_trace *trace = open_file(key, name);
  long before = faults();
  assert_int_equal(kymo_trace_goto_time(trace, 1000 + 10 * (LARGE_COUNT - 5), &error), KYMO_OK);
  assert_int_equal(kymo_trace_next(trace, &event, &error), KYMO_OK);
  assert_int_equal(event->time_ns, 1000 + 10 * (LARGE_COUNT - 5));
  long count = faults() - before;
  kymo_trace_close(trace);
  kymo_schema_release(key);
  return count;
}

static void a_search_touches_few_pages(void **state) {
  (void)state;
  static const char record[] = HEAD "RECORD r EVENT IS " TIME "FILLER 65524 BYTES; END;\nLAYOUT REPEAT r;";
  char text[512];
  write_large("large");
  snprintf(text, sizeof text, "%s SORTED YES; END TRACE.", record);
  long search = faults_of_going(text, "large");
  snprintf(text, sizeof text, "%s END TRACE.", record);
  long walk_ = faults_of_going(text, "large");
  if (walk_ < (long)LARGE_COUNT / 2 ||
      search > (long)LARGE_COUNT / 8) /* an emulated machine's own faults are among them */
    fail_msg("%ld pages touched by a search, %ld by a walk", search, walk_);
}

/* ---- broken promises ---- */

/* A record out of order: a linear reading and a jump report the same records, also those in the next
 * cell. */
static void a_broken_promise_is_told(void **state) {
  (void)state;
  enum { COUNT = 12000, ODD = 7000, CELL = 32768 / RECORD };
  struct kymo_error error;
  const struct kymo_event *event;
  struct kymo_schema *key = compile(HEAD ONE "LAYOUT REPEAT r; SORTED YES; END TRACE.");
  for (unsigned is_late = 0; is_late < 2; is_late++) {
    uint8_t *bytes = calloc(COUNT, RECORD);
    for (uint32_t i = 0; i < COUNT; i++)
      store(bytes + (size_t)i * RECORD, i != ODD ? 1000 + 10 * (uint64_t)i : is_late ? 1000000000 : 1, 8);
    write_file("file", bytes, (size_t)COUNT * RECORD);
    free(bytes);
    uint32_t first = is_late ? ODD + 1 : ODD, last = is_late ? (ODD / CELL + 2) * CELL - 1 : ODD;
    for (uint32_t from = 0; from < COUNT; from += from < ODD - 3 ? ODD - 3 : 1500) {
      struct kymo_trace *trace = open_file(key, "file");
      assert_int_equal(kymo_trace_goto_time(trace, 1000 + 10 * (int64_t)from, &error), KYMO_OK);
      for (uint32_t i = from; i < COUNT && kymo_trace_next(trace, &event, &error) == KYMO_OK; i++) {
        bool is_told = i >= first && i <= last;
        int64_t time_ns = i != ODD ? 1000 + 10 * (int64_t)i : is_late ? 1000000000 : 1;
        if (event->time_ns != time_ns ||
            (i > from && event->is_damaged != is_told)) /* events before the first do not matter */
          fail_msg("record %u from %u on: time %lld, damaged %d", i, from, (long long)event->time_ns,
                   event->is_damaged);
      }
      kymo_trace_close(trace);
    }
  }
  kymo_schema_release(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_search_finds_what_a_walk_finds, make_top, remove_top),
      cmocka_unit_test_setup_teardown(what_is_tied_to_others_is_walked, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_walk_finds_it_too, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_walk_is_made_once, make_top, remove_top),
      cmocka_unit_test_setup_teardown(files_may_be_cut_meanwhile, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_search_touches_few_pages, make_top, remove_top),
      cmocka_unit_test_setup_teardown(a_broken_promise_is_told, make_top, remove_top),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
