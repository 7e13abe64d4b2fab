/* SPDX-License-Identifier: MIT */
/* A few tracepoints in groups, for what switches them on; optionally prints its own tasks and maps. */
#include <kymo/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int evaluated;
static int evaluate(void) { return ++evaluated; }

static void print_file(const char *path, const char *only) {
  char line[4096];
  FILE *in = fopen(path, "r");
  while (in && fgets(line, sizeof line, in))
    if (strstr(line, only))
      fputs(line, stdout);
  if (in)
    fclose(in);
}

/* … of the input. */
static void wait_for_end(void) {
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
}

int main(int argc, char **argv) {
  kymo_args_apply(&argc, argv);
  KYMO(net, rx, evaluate());
  KYMO(net, tx, evaluate());
  KYMO(net, error, evaluate());
  KYMO(disk, read, evaluate());
  KYMO(disk, write, evaluate());
  KYMO_NAMED(app.start, evaluate());
  KYMO_NAMED(app.stop.now, evaluate());
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "evaluated"))
      printf("%d\n", evaluated);
    else if (!strcmp(argv[i], "self"))
      print_file("/proc/self/maps", "rings"), print_file("/proc/self/status", "Threads:");
    else if (!strcmp(argv[i], "thread"))
      printf("%d\n", kymo_thread_init());
    else if (!strcmp(argv[i], "wait"))
      wait_for_end();
    else if (!strcmp(argv[i], "save"))
      printf("%d\n", kymo_rings_save(argv[++i]));
    else
      printf("%s\n", argv[i]);
  }
  return 0;
}
