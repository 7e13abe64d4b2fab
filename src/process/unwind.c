/* SPDX-License-Identifier: MIT */
/*
 * A thread was released long before its stack is unwound: registers and the top of the stack are copies. What
 * is deeper is read from the process, whose callers further out stay while the thread waits.
 *
 * Files are opened as the process sees them: its program by /proc/PID/exe, which is the program also if that
 * was replaced on the disk, libraries below /proc/PID/root.
 */
#include "process/proc.h"
#include "process/unwind_internal.h"
#include "symbols/demangle.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool process_can_unwind(void) { return true; }

/* ---- files ---- */

/* A regular file, or -1. */
static int open_file(const char *path) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
    close(fd);
    fd = -1;
  }
  return fd;
}

static const struct process *process_of(Dwfl_Module *module);

static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **file,
                    Elf **elf) {
  const struct process *process = process_of(module);
  char path[PROC_PATH_MAX + 4096];
  int fd = -1;
  if (process && process->exe && strcmp(name, process->exe) == 0)
    snprintf(path, sizeof path, "/proc/%d/exe", process->living);
  else
    snprintf(path, sizeof path, "/proc/%d/root%s", process ? process->living : 0, name);
  if (process && name[0] == '/')
    fd = open_file(path);
  if (fd < 0) /* what is in memory alone, as the kernel's page */
    return dwfl_linux_proc_find_elf(module, user, name, base, file, elf);
  *file = strdup(path);
  return fd;
}

static char *debug_path; /* NULL: the usual places */
static const Dwfl_Callbacks callbacks = {
    .find_elf = find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .debuginfo_path = &debug_path,
};

/* libdw hands no data of the caller to find_elf. */
static const struct process *current;
static const struct process *process_of(Dwfl_Module *module) {
  (void)module;
  return current;
}

/* ---- state of threads, for libdw ---- */

static pid_t next_thread(Dwfl *dwfl, void *user, void **argument) {
  (void)dwfl, (void)user, (void)argument;
  return 0; /* threads are asked for by their numbers */
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *user, void **argument) {
  struct process_unwinder *unwinder = user;
  (void)dwfl;
  *argument = unwinder;
  return unwinder->thread && unwinder->thread->tid == tid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *user) {
  const struct process_unwinder *unwinder = user;
  const struct process_thread *thread = unwinder->thread;
  size_t size = thread->registers.machine == EM_386 ? 4 : 8;
  uint64_t wide = 0;
  uint32_t narrow = 0;
  void *to = size == 4 ? (void *)&narrow : (void *)&wide;
  (void)dwfl;
  if (thread->stack_bytes && address >= thread->stack_begin &&
      address - thread->stack_begin + size <= thread->stack_size)
    memcpy(to, thread->stack_bytes + (address - thread->stack_begin), size);
  else if (proc_memory(unwinder->process, address, to, size) != size)
    return false;
  *result = size == 4 ? narrow : wide;
  return true;
}

static bool set_registers(Dwfl_Thread *state, void *argument) {
  const struct process_unwinder *unwinder = argument;
  const struct process_registers *registers = &unwinder->thread->registers;
  Dwarf_Word list[PROCESS_REGISTERS_MAX];
  bool is_set = true;
  memcpy(list, registers->list, sizeof list);
  if (registers->machine == EM_AARCH64)
    dwfl_thread_state_register_pc(state, registers->instruction);
  if (!registers->are_few)
    return dwfl_thread_state_registers(state, 0, registers->count, list);
  for (int i = 0; i < 32 && is_set; i++)
    if (registers->known >> i & 1)
      is_set = dwfl_thread_state_registers(state, i, 1, &list[i]);
  return is_set;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

/* ---- frames ---- */

int process_take_frame(Dwfl_Frame *state, void *user) {
  struct process_frames *frames = user;
  struct process_frame *frame = &frames->list[frames->count];
  Dwarf_Addr address;
  if (frames->count == PROCESS_FRAMES_MAX)
    return DWARF_CB_ABORT;
  if (!dwfl_frame_pc(state, &address, &frame->is_activation))
    return DWARF_CB_ABORT;
  frame->address = address;
  frames->count++;
  return DWARF_CB_OK;
}

/* Whether a symbol says that the address is in it. Symbols of the assembler have no size. */
static bool is_inside(const GElf_Sym *symbol, GElf_Off offset) {
  enum { NEAR = 64 };
  return symbol->st_size ? offset < symbol->st_size : offset < NEAR;
}

static void name_frame(const struct process_unwinder *unwinder, struct process_frame *frame) {
  enum { TITLE_MAX = 512 };
  struct process_board *board = unwinder->process->board;
  Dwarf_Addr place = frame->address - !frame->is_activation, bias = 0, begin = 0;
  Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, place);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  char title[TITLE_MAX];
  if (!module)
    return;
  const char *file = dwfl_module_info(module, NULL, &begin, NULL, NULL, NULL, NULL, NULL);
  frame->module = process_board_text(board, "%s", file ? file : "?");
  frame->offset = frame->address - (dwfl_module_getelf(module, &bias) ? bias : begin);
  const char *name = dwfl_module_addrinfo(module, place, &offset, &symbol, NULL, NULL, NULL);
  if (!name || !*name || !is_inside(&symbol, offset))
    return;
  frame->offset = offset + !frame->is_activation;
  if (kymo_demangle(name, title, sizeof title))
    frame->function = process_board_text(board, "%s", title);
  else /* without the version of the symbol */
    frame->function = process_board_text(board, "%.*s", (int)strcspn(name, "@"), name);
}

/* The variable in which the futex is for which the thread waits. */
static void name_futex(const struct process_unwinder *unwinder, struct process_call *call) {
  Dwarf_Addr address = call->arguments[0];
  Dwfl_Module *module = call->is_futex ? dwfl_addrmodule(unwinder->dwfl, address) : NULL;
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char *name =
      module ? dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL) : NULL;
  if (!name || !symbol.st_size || offset >= symbol.st_size)
    return;
  call->futex_name = process_board_text(unwinder->process->board, "%.*s", (int)strcspn(name, "@"), name);
  call->futex_name_offset = offset;
}

/* libdw reports both the frame that a signal interrupted, and the one between it and the handler, to be
 * activations: the second one follows the first. */
static void mark_signals(struct process_frame *list, unsigned count) {
  for (unsigned i = 1; i + 1 < count; i++)
    if (list[i].is_activation && list[i + 1].is_activation)
      list[i++].is_signal = true;
}

void process_give_frames(struct process_frames *frames, struct process_thread *thread, int status) {
  struct process *process = frames->unwinder->process;
  struct process_frame *list = process_board_take(process->board, (frames->count + 1) * sizeof *list);
  if (!list) {
    thread->stack_end = "out of memory";
    return;
  }
  for (unsigned i = 0; i < frames->count; i++)
    list[i] = frames->list[i];
  mark_signals(list, frames->count);
  thread->frames = list;
  thread->frame_count = frames->count;
  if (!status) /* complete, although registers were missing */
    thread->stack_end = NULL;
  if (!thread->stack_end && status == DWARF_CB_ABORT)
    thread->stack_end =
        frames->count == PROCESS_FRAMES_MAX
            ? process_board_text(process->board, "only the innermost %d frames are shown", PROCESS_FRAMES_MAX)
            : "the next frame has no address";
  else if (!thread->stack_end && status < 0)
    thread->stack_end =
        process_board_text(process->board, "the next frame was not found: %s", dwfl_errmsg(-1));
  for (unsigned i = 0; i < frames->count; i++)
    name_frame(frames->unwinder, &list[i]);
  name_futex(frames->unwinder, &thread->call);
  thread->has_names = true;
}

void process_unwind(struct process_unwinder *unwinder, struct process_thread *thread) {
  struct process_frames frames = {.unwinder = unwinder};
  if (!thread->registers.are_known)
    return;
  unwinder->thread = thread;
  if (!unwinder->is_attached) {
    unwinder->is_attached =
        dwfl_attach_state(unwinder->dwfl, NULL, unwinder->process->pid, &thread_callbacks, unwinder);
    if (!unwinder->is_attached) {
      thread->stack_end =
          process_board_text(unwinder->process->board, "its files cannot be read: %s", dwfl_errmsg(-1));
      return;
    }
  }
  int status = dwfl_getthread_frames(unwinder->dwfl, thread->tid, process_take_frame, &frames);
  if (!frames.count) { /* the address alone */
    frames.list[frames.count++] =
        (struct process_frame){.address = thread->registers.instruction, .is_activation = true};
  }
  process_give_frames(&frames, thread, status);
}

void process_find_lines(struct process_unwinder *unwinder, struct process_thread *thread) {
  for (unsigned i = 0; i < thread->frame_count; i++) {
    struct process_frame *frame = &thread->frames[i];
    Dwarf_Addr place = frame->address - !frame->is_activation;
    Dwfl_Module *module = frame->module ? dwfl_addrmodule(unwinder->dwfl, place) : NULL;
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, place) : NULL;
    int number = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (!file)
      continue;
    frame->line = number;
    frame->file = process_board_text(unwinder->process->board, "%s", file);
  }
}

/* ---- all ---- */

struct process_unwinder *process_unwinder_new(struct process *process) {
  struct process_unwinder *unwinder = calloc(1, sizeof *unwinder);
  unsetenv("DEBUGINFOD_URLS"); /* no waiting for a server */
  current = process;
  if (unwinder)
    *unwinder = (struct process_unwinder){.process = process, .dwfl = dwfl_begin(&callbacks)};
  int status = unwinder && unwinder->dwfl ? dwfl_linux_proc_report(unwinder->dwfl, process->living) : -1;
  if (!status && !dwfl_report_end(unwinder->dwfl, NULL, NULL))
    return unwinder;
  process_unseen(process, "stacks: the files that the process has mapped cannot be listed: %s",
                 status > 0 ? strerror(status) : dwfl_errmsg(-1));
  process_unwinder_free(unwinder);
  return NULL;
}

void process_unwinder_free(struct process_unwinder *unwinder) {
  if (unwinder && unwinder->dwfl)
    dwfl_end(unwinder->dwfl);
  free(unwinder);
}
