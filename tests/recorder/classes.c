/* SPDX-License-Identifier: MIT */
/* More kinds of events than the event header has ids for: made-up call sites, registered as a library's
 * are. */
#include <kymo/trace.h>
#include <stdio.h>
#include <sys/mman.h>

enum { SITES = 65540, TEXT = 24 };
struct made_up {
  int32_t entry[SITES][2];
  struct {
    struct kymo_tracepoint head;
    uint64_t codes;
  } point[SITES];
  char text[SITES][TEXT];
};

int main(void) {
  struct made_up *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m == MAP_FAILED)
    return 2;
  for (int i = 0; i < SITES; i++) {
    snprintf(m->text[i], TEXT, "many, kind%d%cfile.c", i, 0);
    m->entry[i][0] = (int32_t)((char *)&m->point[i] - (char *)&m->entry[i][0]);
    m->entry[i][1] = (int32_t)(m->text[i] - (char *)&m->entry[i][1]);
  }
  kymo_register_(&m->entry[0][0], &m->entry[0][0] + 2 * SITES);
  int on = 0;
  for (int i = 0; i < SITES; i++)
    on += m->point[i].head.enabled != 0;
  for (int i = SITES - 10; i < SITES; i++) {
    if (!m->point[i].head.enabled)
      continue;
    struct kymo_space_ space = kymo_begin_(8, m->point[i].head.id);
    if (!space.ring)
      return 3;
    kymo_commit_(space.ring, 8);
  }
  printf("%d\n", on);
  return 0;
}
