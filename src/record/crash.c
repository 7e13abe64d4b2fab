/* SPDX-License-Identifier: MIT */
#include "record/crash.h"
#include "record/session.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGQUIT, SIGXCPU};

/* Marks the pool. Then the process dies as it would have without the recorder: of the fault itself, which
 * happens again after the return, or of the signal, which is sent again and arrives after the return. */
static void on_fatal(int number, siginfo_t *info, void *context) {
  (void)context;
  if (kymo_pool_is_ours()) {
    struct kymo_pool_header *header = kymo_session_.pool.header;
    header->crash_tid = (int32_t)syscall(SYS_gettid);
    __atomic_store_n(&header->crash_signal, (uint32_t)number,
                     __ATOMIC_RELEASE); /* partner: kymo_crashes_look */
  }
  bool comes_again =
      info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
  signal(number, SIG_DFL);
  if (!comes_again)
    syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), number);
}

/* A stack for signal handlers, so that the first thread, and a forked child, can mark an overflow of the
 * stack. */
static void make_stack(void) {
  enum { SIZE = 64 << 10 };
  stack_t stack;
  if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE))
    return;
  void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED)
    sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = SIZE}, NULL);
}

void kymo_crash_watch(void) {
  make_stack();
  for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    struct sigaction now, ours = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (!sigaction(fatal[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
      sigaction(fatal[i], &ours, NULL);
  }
}
