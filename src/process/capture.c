/* SPDX-License-Identifier: MIT */
/*
 * PTRACE_SEIZE and PTRACE_INTERRUPT stop a thread without a signal. A signal that arrives at the same time
 * stops it, too, before it is delivered; it is delivered when the thread is released. A thread that does not
 * stop in time has entered disk sleep: the kernel releases it when the worker ends.
 *
 *   SEIZE ──► INTERRUPT ──► stopped ──► registers, 32 KiB of the stack ──► DETACH
 */
#include "process/capture.h"
#include "process/proc.h"
#include "process/syscalls.h"
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

enum { STOP_MS = 300, STOP_BUSY_MS = 3000, STACK_MAX = 32 << 10, RED_ZONE = 128, SET_MAX = 1024 };

/* ---- registers ---- */

#if defined __x86_64__
/* A process of 32 bits has these in its regset: ebx ecx edx esi edi ebp eax ds es fs gs orig_eax eip cs
 * eflags esp ss */
static void take_32(struct process_registers *registers, const uint32_t *set, struct process_call *call) {
  static const uint8_t places[] = {6, 1, 2, 0, 15, 5, 3, 4, 12}; /* eax ecx edx ebx esp ebp esi edi eip */
  registers->machine = EM_386;
  registers->count = sizeof places;
  for (unsigned i = 0; i < registers->count; i++)
    registers->list[i] = set[places[i]];
  registers->stack = set[15];
  registers->instruction = set[12];
  if (call)
    call->number = (int32_t)set[11];
}

static void take_64(struct process_registers *registers, const struct user_regs_struct *set,
                    struct process_call *call) {
  const uint64_t list[] = {set->rax, set->rdx, set->rcx, set->rbx, set->rsi, set->rdi,
                           set->rbp, set->rsp, set->r8,  set->r9,  set->r10, set->r11,
                           set->r12, set->r13, set->r14, set->r15, set->rip};
  registers->machine = EM_X86_64;
  registers->count = sizeof list / sizeof *list;
  memcpy(registers->list, list, sizeof list);
  registers->stack = set->rsp;
  registers->instruction = set->rip;
  registers->thread_pointer = set->fs_base;
  if (call) {
    const uint64_t arguments[6] = {set->rdi, set->rsi, set->rdx, set->r10, set->r8, set->r9};
    call->number = (long)set->orig_rax;
    memcpy(call->arguments, arguments, sizeof arguments);
  }
}

bool process_take_registers(struct process_registers *registers, const void *set, size_t size,
                            struct process_call *call) {
  enum { SIZE_32 = 17 * 4 };
  union {
    struct user_regs_struct wide;
    uint32_t narrow[17];
  } copy;
  if (size != SIZE_32 && size != sizeof copy.wide)
    return false;
  memcpy(&copy, set, size);
  if (size == SIZE_32)
    take_32(registers, copy.narrow, call);
  else
    take_64(registers, &copy.wide, call);
  return registers->are_known = true;
}

/* The kernel lists the arguments of a system call, too, which are registers. */
static void take_listed(struct process_registers *registers, const struct process_call *call,
                        bool is_32_bit) {
  static const uint8_t arguments[] = {5, 4, 1, 10, 8, 9}; /* rdi rsi rdx r10 r8 r9 */
  registers->machine = is_32_bit ? EM_386 : EM_X86_64;
  registers->list[is_32_bit ? 4 : 7] = registers->stack;
  registers->list[is_32_bit ? 8 : 16] = registers->instruction;
  registers->known = is_32_bit ? 1u << 4 | 1u << 8 : 1u << 7 | 1u << 16;
  for (unsigned i = 0; i < sizeof arguments && call->is_inside && !is_32_bit; i++) {
    registers->list[arguments[i]] = call->arguments[i];
    registers->known |= 1u << arguments[i];
  }
}
#elif defined __aarch64__
bool process_take_registers(struct process_registers *registers, const void *set, size_t size,
                            struct process_call *call) {
  struct user_regs_struct copy;
  if (size != sizeof copy)
    return false;
  memcpy(&copy, set, size);
  registers->machine = EM_AARCH64;
  registers->count = 32;
  memcpy(registers->list, copy.regs, 31 * sizeof *registers->list);
  registers->list[31] = registers->stack = copy.sp;
  registers->instruction = copy.pc;
  if (call) {
    call->number = (long)copy.regs[8];
    memcpy(call->arguments, copy.regs, sizeof call->arguments);
  }
  return registers->are_known = true;
}

static void take_listed(struct process_registers *registers, const struct process_call *call,
                        bool is_32_bit) {
  (void)call, (void)is_32_bit;
  registers->machine = EM_AARCH64;
  registers->list[31] = registers->stack;
  registers->known = 1u << 31;
}
#else
bool process_take_registers(struct process_registers *registers, const void *set, size_t size,
                            struct process_call *call) {
  (void)registers, (void)set, (void)size, (void)call;
  return false;
}

static void take_listed(struct process_registers *registers, const struct process_call *call,
                        bool is_32_bit) {
  (void)call, (void)is_32_bit;
  registers->are_known = false;
}
#endif

/* What the kernel lists of a thread that waits. */
static void take_few(const struct process *process, struct process_thread *thread, const char *why) {
  struct process_registers *registers = &thread->registers;
  thread->stack_end = why;
  if (!thread->call.is_known || !thread->call.stack)
    return;
  registers->are_known = registers->are_few = true;
  registers->stack = thread->call.stack;
  registers->instruction = thread->call.instruction;
  take_listed(registers, &thread->call, process->is_32_bit);
}

/* ---- memory ---- */

static void copy_stack(struct process *process, struct process_thread *thread) {
  uint8_t *bytes = process_board_take(process->board, STACK_MAX);
  if (!bytes) /* it is read later, from the process */
    return;
  thread->stack_begin = thread->registers.stack - RED_ZONE;
  thread->stack_size = proc_memory(process, thread->stack_begin, bytes, STACK_MAX);
  thread->stack_bytes = bytes;
}

/* ---- stopping ---- */

/* The state now: the thread may have gone on since it was read. */
static char state_now(const struct process *process, int tid) {
  char text[512];
  proc_read(text, sizeof text, "/proc/%d/task/%d/stat", process->pid, tid);
  const char *close = strrchr(text, ')');
  return close && close[1] == ' ' ? close[2] : 0;
}

/* Whether the thread stops in time, which is longer unless it is in disk sleep, as it may wait for a
 * processor; *signal: which is to be delivered to it, 0: none. */
static bool wait_for_stop(const struct process *process, int tid, int *signal) {
  long long begin = process_now_ns();
  int status;
  for (;;) {
    pid_t found = waitpid(tid, &status, __WALL | WNOHANG);
    if (found == tid && WIFSTOPPED(status)) {
      *signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
      return true;
    }
    long long ms = (process_now_ns() - begin) / 1000000;
    if (found || ms > STOP_BUSY_MS || (ms > STOP_MS && state_now(process, tid) == 'D'))
      return false;
    process_sleep_us(50);
  }
}

static bool read_registers(struct process_registers *registers, int tid) {
  uint64_t set[SET_MAX / 8];
  struct iovec to = {set, sizeof set};
  return !ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &to) &&
         process_take_registers(registers, set, to.iov_len, NULL);
}

static void stop_and_read(struct process *process, struct process_thread *thread) {
  int tid = thread->tid, signal;
  if (ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
    take_few(process, thread,
             errno == ESRCH ? "the thread has ended"
                            : process_board_text(process->board, "it cannot be traced: %s", strerror(errno)));
    return;
  }
  if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) || !wait_for_stop(process, tid, &signal)) {
    take_few(process, thread, "the thread did not stop in time: it is in the kernel, or has ended");
    return;
  }
  bool is_read = read_registers(&thread->registers, tid);
  if (is_read)
    copy_stack(process, thread);
  ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal);
  if (!is_read)
    take_few(process, thread, "registers of this machine are not known");
}

void process_capture(struct process *process, struct process_thread *thread, bool may_interrupt) {
  char state = state_now(process, thread->tid);
  if (!state || state == 'X' || state == 'Z') {
    thread->stack_end =
        state == 'Z' ? "the thread has ended, and nobody has collected its result" : "the thread has ended";
    return;
  }
  if (thread->tracer) {
    char name[PROCESS_NAME_MAX];
    proc_name(name, thread->tracer);
    take_few(process, thread,
             process_board_text(process->board, "process %d (%s) traces it", thread->tracer, name));
  } else if (state == 'D') {
    take_few(process, thread, "the thread is in disk sleep and cannot stop");
  } else if (!may_interrupt && process_must_not_stop(process, thread)) {
    take_few(process, thread,
             "it was not stopped, as its system call would fail with EINTR (--interrupt stops it)");
  } else {
    stop_and_read(process, thread);
  }
}
