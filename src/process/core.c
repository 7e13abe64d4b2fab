/* SPDX-License-Identifier: MIT */
/*
 * A core file: memory in PT_LOAD segments, and notes. A thread has a note NT_PRSTATUS with its number and its
 * registers; the process has NT_PRPSINFO with its name. Their layouts are those of this machine; a core
 * file of another one is refused.
 */
#include "process/capture.h"
#include "process/syscalls.h"
#include "process/unwind_internal.h"
#include "base/fail.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS_MAX = 4096 };

struct core {
  struct process *process;
  int fd;
  Elf *elf;
  size_t parts; /* program headers */
};

/* The core file whose memory is read, of which there is one. */
static const struct core *current;

/* ---- memory ---- */

static size_t read_memory(const struct process *process, uint64_t address, void *out, size_t size) {
  (void)process;
  for (size_t i = 0; i < current->parts && i < INT32_MAX; i++) {
    GElf_Phdr part;
    if (!gelf_getphdr(current->elf, (int)i, &part) || part.p_type != PT_LOAD || address < part.p_vaddr ||
        address - part.p_vaddr >= part.p_filesz)
      continue;
    uint64_t left = part.p_filesz - (address - part.p_vaddr);
    ssize_t n = pread(current->fd, out, left < size ? (size_t)left : size,
                      (off_t)(part.p_offset + (address - part.p_vaddr)));
    return n > 0 ? (size_t)n : 0;
  }
  return 0;
}

/* ---- notes ---- */

static void take_thread(struct process *process, const void *bytes) {
  struct elf_prstatus status;
  memcpy(&status, bytes, sizeof status);
  if (process->threads_in_all++ >= THREADS_MAX)
    return;
  struct process_thread *thread = &process->threads[process->count++];
  *thread = (struct process_thread){.tid = status.pr_pid, .inner_tid = status.pr_pid, .state = 'S'};
  thread->blocked = status.pr_sighold;
  if (process->count == 1) /* the first one is that which received the signal */
    process->signal = status.pr_cursig;
  if (!process_take_registers(&thread->registers, &status.pr_reg, sizeof status.pr_reg, &thread->call))
    return;
  thread->call.is_known = true;
  thread->call.is_inside = thread->call.number >= 0;
}

static void take_process(struct process *process, const void *bytes) {
  struct elf_prpsinfo info;
  memcpy(&info, bytes, sizeof info);
  memcpy(process->name, info.pr_fname, sizeof info.pr_fname);
  process->name[sizeof info.pr_fname - 1] = 0;
  process->pid = process->inner_pid = info.pr_pid;
  process->parent = info.pr_ppid;
  process->user = info.pr_uid;
  process->has_user = true;
}

static void read_notes(struct core *core, const GElf_Phdr *part) {
  Elf_Data *notes = elf_getdata_rawchunk(core->elf, (int64_t)part->p_offset, part->p_filesz,
                                         part->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
  GElf_Nhdr note;
  size_t name, from;
  for (size_t at = 0; notes && (at = gelf_getnote(notes, at, &note, &name, &from)) > 0;) {
    const char *bytes = notes->d_buf;
    if (note.n_namesz != 5 || memcmp(bytes + name, "CORE", 5) != 0)
      continue;
    if (note.n_type == NT_PRSTATUS && note.n_descsz == sizeof(struct elf_prstatus))
      take_thread(core->process, bytes + from);
    else if (note.n_type == NT_PRPSINFO && note.n_descsz == sizeof(struct elf_prpsinfo))
      take_process(core->process, bytes + from);
  }
}

static int read_all_notes(struct core *core, struct kymo_error *error) {
  struct process *process = core->process;
  process->threads = process_board_take(process->board, THREADS_MAX * sizeof *process->threads);
  if (!process->threads)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  for (size_t i = 0; i < core->parts && i < INT32_MAX; i++) {
    GElf_Phdr part;
    if (gelf_getphdr(core->elf, (int)i, &part) && part.p_type == PT_NOTE)
      read_notes(core, &part);
  }
  if (!process->count)
    return kymo_fail_at(error, KYMO_E_FORMAT, process->core, KYMO_ERROR_NO_OFFSET,
                        "expected threads of this machine in the core file, found none");
  for (size_t i = 0; i < process->count; i++)
    memcpy(process->threads[i].name, process->name, sizeof process->name);
  return KYMO_OK;
}

/* ---- stacks ---- */

static int take_stack(Dwfl_Thread *state, void *user) {
  struct process_unwinder *unwinder = user;
  struct process *process = unwinder->process;
  struct process_frames frames = {.unwinder = unwinder};
  int tid = dwfl_thread_tid(state);
  for (size_t i = 0; i < process->count; i++)
    if (process->threads[i].tid == tid) {
      int status = dwfl_thread_getframes(state, process_take_frame, &frames);
      process_give_frames(&frames, &process->threads[i], status);
      process_find_lines(unwinder, &process->threads[i]);
    }
  return DWARF_CB_OK;
}

static void unwind_all(struct core *core) {
  static char *debug_path;
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo,
                                           .debuginfo_path = &debug_path};
  struct process *process = core->process;
  struct process_unwinder unwinder = {.process = process, .dwfl = dwfl_begin(&callbacks)};
  unsetenv("DEBUGINFOD_URLS");
  if (!unwinder.dwfl || dwfl_core_file_report(unwinder.dwfl, core->elf, process->exe) < 0 ||
      dwfl_report_end(unwinder.dwfl, NULL, NULL) || dwfl_core_file_attach(unwinder.dwfl, core->elf) < 0 ||
      dwfl_getthreads(unwinder.dwfl, take_stack, &unwinder) < 0)
    process_unseen(process, "stacks: the core file cannot be unwound: %s", dwfl_errmsg(-1));
  if (unwinder.dwfl)
    dwfl_end(unwinder.dwfl);
}

/* ---- all ---- */

static int check(const struct core *core, struct kymo_error *error) {
  GElf_Ehdr head;
  if (!core->elf || elf_kind(core->elf) != ELF_K_ELF || !gelf_getehdr(core->elf, &head) ||
      head.e_type != ET_CORE || elf_getphdrnum(core->elf, (size_t *)(uintptr_t)&core->parts))
    return kymo_fail_at(error, KYMO_E_UNKNOWN, core->process->core, KYMO_ERROR_NO_OFFSET,
                        "expected a core file, found another file");
  return KYMO_OK;
}

int process_read_core(struct process *process, struct kymo_error *error) {
  struct core core = {.process = process};
  struct stat st;
  core.fd = open(process->core, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (core.fd < 0 || fstat(core.fd, &st))
    return kymo_fail_errno(error, process->core, "cannot open the core file");
  elf_version(EV_CURRENT);
  core.elf = S_ISREG(st.st_mode) ? elf_begin(core.fd, ELF_C_READ_MMAP, NULL) : NULL;
  current = &core;
  int status = check(&core, error);
  if (status == KYMO_OK)
    status = read_all_notes(&core, error);
  for (size_t i = 0; status == KYMO_OK && i < process->count; i++)
    process_decode_call(process, &process->threads[i], read_memory);
  if (status == KYMO_OK)
    unwind_all(&core);
  elf_end(core.elf);
  close(core.fd);
  current = NULL;
  return status;
}
