/* SPDX-License-Identifier: MIT */
/*
 * Texts at every place where reading them may go wrong. Each event holds the text twice, read from its place
 * (`got`) and from a safe copy (`want`).
 *
 *   edges ends       texts and bounded pieces of text up to the last byte before an unmapped page
 *   edges packets    texts of all lengths across many ends of packets
 *   edges changing   a text that another thread makes longer and shorter while it is recorded
 */
#include <kymo/trace.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void make_text(char *at, size_t length, unsigned seed) {
  for (size_t i = 0; i < length; i++)
    at[i] = (char)('A' + (seed + i) % 26);
}

static void ends(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    exit(2);
  munmap(pages + 2 * page, page);
  char *end = pages + 2 * page, want[200];
  for (unsigned length = 0; length < 70; length++) {
    memset(pages, 'z', 2 * page);
    make_text(end - length - 1, length, length);
    end[-1] = 0;
    const char *got = end - length - 1;
    make_text(want, length, length), want[length] = 0;
    KYMO(edges, end, KYMO_STRN(want, want, sizeof want), got);
    KYMO(edges, end_bounded, KYMO_STRN(want, want, sizeof want), KYMO_STRN(got, got, length + 5));
    /* no NUL at all: the bound is the page's end */
    make_text(end - length, length, length);
    KYMO(edges, end_open, KYMO_STRN(want, want, sizeof want), KYMO_STRN(got, end - length, length));
    /* across the boundary of two mapped pages */
    make_text(pages + page - length / 2, length, length);
    pages[page - length / 2 + length] = 0;
    KYMO(edges, boundary, KYMO_STRN(want, want, sizeof want), KYMO_AS(got, pages + page - length / 2));
  }
  /* arrays that fill their page to its end */
  struct tail {
    char text[24];
  } *tail = (struct tail *)(void *)(end - sizeof *tail);
  make_text(tail->text, sizeof tail->text, 3);
  make_text(want, sizeof tail->text, 3), want[sizeof tail->text] = 0;
  KYMO(edges, array, KYMO_STRN(want, want, sizeof want), KYMO_AS(got, tail->text));
}

static void packets(void) {
  char text[400];
  for (unsigned i = 0; i < 4000; i++) {
    unsigned length = i * 13 % 300;
    make_text(text, length, i), text[length] = 0;
    KYMO(edges, packets, KYMO_STRN(want, text, sizeof text), KYMO_AS(got, (const char *)text));
  }
}

static char changing[4][64];
static bool done;

static void *change(void *unused) {
  (void)unused;
  for (unsigned i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++)
    for (int t = 0; t < 4; t++) {
      volatile char *at = changing[t];
      at[(i * 7 + (unsigned)t) % 40] = i % 3 ? 'x' : 0;
    }
  return NULL;
}

static void change_while_recording(void) {
  pthread_t thread;
  memset(changing, 'x', sizeof changing);
  for (int t = 0; t < 4; t++)
    changing[t][63] = 0;
  if (pthread_create(&thread, NULL, change, NULL))
    exit(2);
  for (unsigned i = 0; i < 100000; i++) {
    unsigned check = i * 2654435761u;
    KYMO(edges, changing, i, KYMO_AS(a, (const char *)changing[0]), KYMO_STRN(b, changing[1], 64),
         KYMO_AS(c, changing[2]), KYMO_AS(d, changing[3]), check);
  }
  __atomic_store_n(&done, true, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  kymo_args_apply(&argc, argv);
  if (argc != 2)
    return 2;
  if (!strcmp(argv[1], "ends"))
    ends();
  else if (!strcmp(argv[1], "packets"))
    packets();
  else
    change_while_recording();
  return 0;
}
