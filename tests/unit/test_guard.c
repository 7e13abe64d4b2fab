/* SPDX-License-Identifier: MIT */
/* Threads that touch missing pages of mapped files at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/guard.h"
#include "missing_pages.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 8, PAGES = 64, WHOLE = 3, ROUNDS = 40, AT_ONCE = 24 };

static size_t page;
static pthread_barrier_t barrier;

/* PAGES pages of ones, mapped, of which the file loses all after the first `pages`. */
static unsigned char *map_cut(size_t pages) {
  FILE *file = tmpfile();
  if (!file)
    return NULL;
  for (size_t i = 0; i < PAGES * page; i++)
    fputc(1, file);
  unsigned char *bytes =
      fflush(file) ? MAP_FAILED : mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, fileno(file), 0);
  bool is_cut = bytes != MAP_FAILED && !ftruncate(fileno(file), (off_t)(pages * page));
  fclose(file);
  return is_cut ? bytes : NULL;
}

/* The sum of one byte of each page, from `first` on and around. */
static size_t sum_pages(const unsigned char *bytes, size_t first) {
  size_t sum = 0;
  for (size_t i = 0; i < PAGES; i++)
    sum += *(const volatile unsigned char *)&bytes[(first + i) % PAGES * page];
  return sum;
}

static void run_threads(void *(*work)(void *), void *user[THREADS]) {
  pthread_t threads[THREADS];
  void *result;
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (size_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, user ? user[i] : (void *)i), 0);
  for (size_t i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_null(result); /* else the fault */
  }
  pthread_barrier_destroy(&barrier);
}

/* ---- one mapping ---- */

static const unsigned char *shared;

static void *read_shared(void *number) {
  pthread_barrier_wait(&barrier);
  size_t sum = sum_pages(shared, (size_t)number * PAGES / THREADS);
  return sum == WHOLE ? NULL : (void *)(uintptr_t) "zeros are not zeros, or ones not ones";
}

static void threads_fault_in_one_mapping(void **state) {
  (void)state;
  if (!MISSING_PAGES_ARE_FOUND)
    skip();
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t before = kymo_guard_faults();
    unsigned char *bytes = map_cut(WHOLE);
    assert_non_null(bytes);
    struct kymo_guard *guard = kymo_guard_begin(bytes, PAGES * page, PROT_READ);
    assert_non_null(guard);
    shared = bytes;
    run_threads(read_shared, NULL);
    assert_int_equal(kymo_guard_missing(guard), WHOLE * page);
    assert_int_equal(kymo_guard_missing_in(bytes, WHOLE * page), SIZE_MAX);
    assert_int_equal(kymo_guard_missing_in(bytes + page, PAGES * page - page), (WHOLE - 1) * page);
    assert_true(kymo_guard_faults() - before >= PAGES - WHOLE);
    kymo_guard_end(guard);
    munmap(bytes, PAGES * page);
  }
}

/* ---- separate mappings, which are made and removed meanwhile ---- */

static void *read_own(void *number) {
  unsigned char *bytes[AT_ONCE];
  struct kymo_guard *guards[AT_ONCE];
  const char *wrong = NULL;
  pthread_barrier_wait(&barrier);
  for (size_t i = 0; i < AT_ONCE; i++) {
    bytes[i] = map_cut((i + (size_t)number) % PAGES);
    guards[i] = bytes[i] ? kymo_guard_begin(bytes[i], PAGES * page, PROT_READ) : NULL;
    if (!guards[i])
      return (void *)(uintptr_t) "no mapping or guard";
  }
  for (size_t i = 0; i < AT_ONCE; i++) {
    size_t whole = (i + (size_t)number) % PAGES;
    if (sum_pages(bytes[i], i) != whole || kymo_guard_missing(guards[i]) != whole * page)
      wrong = "another mapping's fault, or none";
    kymo_guard_end(guards[i]);
    munmap(bytes[i], PAGES * page);
  }
  return (void *)(uintptr_t)wrong;
}

static void threads_fault_in_mappings_of_their_own(void **state) {
  (void)state;
  if (!MISSING_PAGES_ARE_FOUND)
    skip();
  run_threads(read_own, NULL); /* more guards at a time than one block of the table has */
}

/* ---- beside faults of the program ---- */

static __thread sigjmp_buf back;

static void on_fault_of_program(int number) {
  (void)number;
  siglongjmp(back, 1);
}

static void *fault_unguarded(const unsigned char *bytes) {
  for (volatile size_t i = 0; i < PAGES; i++) {
    bool is_there = sigsetjmp(back, 1) == 0;
    if (is_there)
      is_there = *(const volatile unsigned char *)&bytes[i * page];
    if (is_there != (i < WHOLE))
      return (void *)(uintptr_t) "a fault of the program's own is lost";
  }
  return NULL;
}

struct half {
  const unsigned char *bytes;
  bool is_guarded;
};

static void *read_half(void *user) {
  const struct half *half = user;
  pthread_barrier_wait(&barrier);
  if (!half->is_guarded)
    return fault_unguarded(half->bytes);
  return sum_pages(half->bytes, 0) == WHOLE ? NULL : (void *)(uintptr_t) "a guarded fault is not repaired";
}

static void faults_of_the_program_reach_its_handler_meanwhile(void **state) {
  (void)state;
  if (!MISSING_PAGES_ARE_FOUND)
    skip();
  struct sigaction program = {.sa_handler = on_fault_of_program}, before;
  sigemptyset(&program.sa_mask);
  sigaction(SIGBUS, &program, &before);
  struct half halves[THREADS];
  struct kymo_guard *guards[THREADS] = {0};
  void *user[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    halves[i] = (struct half){map_cut(WHOLE), i % 2};
    assert_non_null(halves[i].bytes);
    if (halves[i].is_guarded)
      guards[i] = kymo_guard_begin(halves[i].bytes, PAGES * page, PROT_READ);
    user[i] = &halves[i];
  }
  run_threads(read_half, user);
  for (size_t i = 0; i < THREADS; i++) {
    kymo_guard_end(guards[i]);
    munmap((void *)(uintptr_t)halves[i].bytes, PAGES * page);
  }
  sigaction(SIGBUS, &before, NULL);
}

int main(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_fault_in_one_mapping),
      cmocka_unit_test(threads_fault_in_mappings_of_their_own),
      cmocka_unit_test(faults_of_the_program_reach_its_handler_meanwhile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
