/* SPDX-License-Identifier: MIT */
/* Tracepoints of all kinds between functions that are traced too. */
#include <kymo/trace.h>

struct pair {
  int a;
  const char *b;
};
KYMO_STRUCT_TYPE(struct pair, a, KYMO_TEXT(b))
KYMO_EVENT(app, declared, KYMO_ARGS(int n), n);

int work(int n);
__attribute__((noinline)) int work(int n) { return n + 1; }

int main(void) {
  for (int i = 0; i < 3; i++) {
    KYMO_SPAN(app, span, i);
    struct pair pair = {i, "text"};
    KYMO(app, fields, i, "a text", KYMO_STRUCT(pair, struct pair, &pair), KYMO_BLOB(bytes, &i, sizeof i));
    KYMO_PRINTF(app, note, "%d %s", work(i), "x");
    KYMO_SAME(app, same, i);
    kymo_app_declared(i);
  }
}
