/* SPDX-License-Identifier: MIT */
/*
 * Interrupts events in progress at a known place: bytes to be copied are in a page that cannot be read, so
 * the handler of SIGSEGV runs in the middle of the event. Prints what was recorded, by name.
 *
 *   handlers nest          the handler records, and is itself interrupted in the middle of that, and so is
 *                          the second
 *   handlers stack         the first of these on a separate stack for handlers
 *   handlers reset         as nest, with a handler that is reset to the default and blocks nothing
 *   handlers unblock       as nest, with a handler that unblocks all signals first
 *   handlers jump          the handler leaves the event by siglongjmp; more events follow from the same depth
 *   handlers deeper        … from frames below the one that was left
 *   handlers jump-stack    … and the handler ran on its own stack
 *   handlers jump-nested   a handler's event is left, to the frame that the first handler interrupted
 *   handlers fill          the handler records more than the ring for handlers holds
 *   handlers large         events as large as a packet and one byte more, also in the handler
 */
#include <kymo/trace.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LEVELS = 3, FILL = 20000, AFTER = 1000 };
static char *trap[LEVELS]; /* one unreadable page a level */
static size_t page;
static volatile sig_atomic_t level;
static sigjmp_buf back;
static const char *what = "";
static unsigned long outer, inner, nested, after;

static void close_traps(void) {
  for (int i = 0; i < LEVELS; i++)
    mprotect(trap[i], page, PROT_NONE);
}

static void interrupted_event(int at) {
  if (at == 0)
    outer++;
  else if (at == 1)
    inner++;
  else
    nested++;
  if (at == 0)
    KYMO(handlers, outer, outer, KYMO_BLOB(data, trap[0], 8));
  else if (at == 1)
    KYMO(handlers, inner, inner, KYMO_BLOB(data, trap[1], 8));
  else
    KYMO(handlers, nested, nested, KYMO_BLOB(data, trap[2], 8));
}

static void install(void);

static void on_fault(int signal) {
  (void)signal;
  int at = level++;
  if (!strcmp(what, "unblock")) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
  }
  if (!strcmp(what, "reset") || !strcmp(what, "unblock")) {
    inner++;
    KYMO(handlers, inner, inner);
    if (!strcmp(what, "reset"))
      install();
  } else if (!strcmp(what, "fill")) {
    for (int i = 0; i < FILL; i++) {
      inner++;
      KYMO(handlers, inner, inner);
    }
  } else if (!strcmp(what, "large")) {
    static const char bytes[1 << 17];
    inner += 1;
    KYMO(handlers, large, KYMO_BLOB(data, bytes, sizeof bytes));
  } else if (!strcmp(what, "jump") || !strcmp(what, "deeper") || !strcmp(what, "jump-stack")) {
    level = 0;
    siglongjmp(back, 1);
  } else if (at + 1 < LEVELS) {
    if (!strcmp(what, "jump-nested") && at == 1) {
      level = 0;
      siglongjmp(back, 1);
    }
    interrupted_event(at + 1);
  }
  mprotect(trap[at], page, PROT_READ);
  level = at;
}

/* A frame far below its caller's. */
static __attribute__((noinline)) void deep(unsigned frames) {
  volatile char room[2048];
  room[0] = 1;
  if (frames)
    deep(frames - 1);
  else
    for (int i = 0; i < AFTER; i++) {
      after++;
      KYMO(handlers, after, after);
    }
  room[1] = room[0];
}

static void install(void) {
  static char stack[1 << 16];
  bool own_stack = strstr(what, "stack");
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = own_stack ? SA_ONSTACK : 0};
  if (!strcmp(what, "nest") || !strcmp(what, "stack") || !strcmp(what, "reset") ||
      !strcmp(what, "jump-nested"))
    action.sa_flags |= SA_NODEFER;
  if (!strcmp(what, "reset"))
    action.sa_flags |= SA_RESETHAND;
  if (own_stack)
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  sigaction(SIGSEGV, &action, NULL);
}

int main(int argc, char **argv) {
  kymo_args_apply(&argc, argv);
  if (argc != 2)
    return 2;
  what = argv[1];
  page = (size_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < LEVELS; i++) {
    trap[i] = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trap[i] == MAP_FAILED)
      return 2;
    memset(trap[i], 'A' + i, page);
  }
  install();
  for (int round = 0; round < 5; round++) {
    close_traps();
    if (!sigsetjmp(back, 1))
      interrupted_event(0);
    else
      outer -= 1, inner -= !strcmp(what, "jump-nested"); /* given up: nothing of them may be seen */
    if (strstr(what, "jump"))
      deep(0);
    else if (!strcmp(what, "deeper"))
      deep(40);
  }
  deep(0);
  printf("handlers:outer %lu\nhandlers:inner %lu\nhandlers:nested %lu\nhandlers:after %lu\n", outer, inner,
         nested, after);
  return 0;
}
