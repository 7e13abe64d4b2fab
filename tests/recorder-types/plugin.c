/* SPDX-License-Identifier: MIT */
/* Another struct of the name that late.c has, and another event of its name. */
#include <kymo/trace.h>

struct entry {
  const char *title;
  int count;
  const int *numbers;
};
KYMO_STRUCT_TYPE(struct entry, KYMO_TEXT(title), KYMO_ARRAY(numbers, count))

void plugin_run(void);
void plugin_run(void) {
  static const int numbers[] = {7, 8, 9};
  struct entry entry = {"plugged", 3, numbers};
  KYMO(late, before, KYMO_STRUCT(entry, struct entry, &entry));
  KYMO(late, inside, KYMO_STRUCT(it, struct entry, &entry));
}
