/* SPDX-License-Identifier: MIT */
#include "live/kernel/head.h"
#include "base/bytes.h"
#include "base/dir.h"
#include "base/fail.h"
#include "base/path.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { OPTION_TRACECLOCK = 4, OPTION_UNAME = 5, OPTION_CPUCOUNT = 8 };

/* The file is in the order of this machine, as the pages are. */
static void put(struct kymo_strbuf *out, uint64_t number, unsigned size) {
  uint8_t bytes[8] = {0};
  for (unsigned i = 0; i < size; i++)
    bytes[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? size - 1 - i : i] = (uint8_t)(number >> 8 * i);
  kymo_strbuf_add(out, (const char *)bytes, size);
}

/* Size and contents of a file. */
static int put_file(struct kymo_strbuf *out, const char *directory, const char *name, unsigned size_bytes,
                    struct kymo_error *error) {
  struct kymo_strbuf text = {0};
  int status = kymo_tracefs_read(directory, name, &text, error);
  put(out, text.length, size_bytes);
  kymo_strbuf_add(out, text.text, text.length);
  kymo_strbuf_free(&text);
  return status;
}

static int put_headers(const struct kymo_kernel_head *head, struct kymo_strbuf *out,
                       struct kymo_error *error) {
  kymo_strbuf_add(out, "header_page", sizeof "header_page");
  int status = put_file(out, head->instance->tracefs, "events/header_page", 8, error);
  kymo_strbuf_add(out, "header_event", sizeof "header_event");
  return status ? status : put_file(out, head->instance->tracefs, "events/header_event", 8, error);
}

/* The formats of ftrace itself (print, bprint …), which need not be switched on. */
static int put_own_formats(const struct kymo_kernel_head *head, struct kymo_strbuf *out,
                           struct kymo_error *error) {
  char path[KYMO_PATH_MAX + 16], name[512];
  struct kymo_strbuf formats = {0};
  uint32_t count = 0;
  int status = KYMO_OK;
  bool is_cut = false;
  snprintf(path, sizeof path, "%s/events/ftrace", head->instance->tracefs);
  DIR *dir = opendir(path);
  for (struct dirent *e; dir && status == KYMO_OK && (e = kymo_dir_next(dir, &is_cut));) {
    char whole[sizeof path + sizeof name];
    snprintf(name, sizeof name, "%s/format", e->d_name);
    if (e->d_name[0] == '.' || !kymo_path_join(whole, sizeof whole, path, name) || access(whole, F_OK))
      continue;
    status = put_file(&formats, path, name, 8, error);
    count++;
  }
  if (dir)
    closedir(dir);
  put(out, count, 4);
  kymo_strbuf_add(out, formats.text, formats.length);
  out->failed |= formats.failed;
  kymo_strbuf_free(&formats);
  return status;
}

/* The events of one group that are on. */
static int put_group(const struct kymo_kernel_head *head, size_t first, size_t end, struct kymo_strbuf *out,
                     struct kymo_error *error) {
  const struct kymo_kernel_event *list = head->events->list;
  uint32_t count = 0;
  int status = KYMO_OK;
  for (size_t i = first; i < end; i++)
    count += list[i].is_on;
  bool is_probe = strcmp(list[first].group, head->instance->group) == 0;
  const char *name = is_probe ? "probe" : list[first].group;
  kymo_strbuf_add(out, name, strlen(name) + 1);
  put(out, count, 4);
  for (size_t i = first; i < end && status == KYMO_OK; i++) {
    char path[256];
    snprintf(path, sizeof path, "events/%s/%s/format", list[i].group, list[i].name);
    if (list[i].is_on)
      status = put_file(out, head->instance->tracefs, path, 8, error);
  }
  return status;
}

static int put_formats(const struct kymo_kernel_head *head, struct kymo_strbuf *out,
                       struct kymo_error *error) {
  const struct kymo_kernel_events *events = head->events;
  struct kymo_strbuf groups = {0};
  uint32_t count = 0;
  int status = KYMO_OK;
  for (size_t first = 0, end; first < events->count && status == KYMO_OK; first = end) {
    bool is_on = false;
    for (end = first; end < events->count && !strcmp(events->list[first].group, events->list[end].group);
         end++)
      is_on |= events->list[end].is_on;
    count += is_on;
    if (is_on)
      status = put_group(head, first, end, &groups, error);
  }
  put(out, count, 4);
  kymo_strbuf_add(out, groups.text, groups.length);
  out->failed |= groups.failed;
  kymo_strbuf_free(&groups);
  return status;
}

/* Megabytes, so only if a format prints names of functions. */
static bool needs_functions(const struct kymo_strbuf *formats) {
  static const char *const spelt[] = {"%ps", "%pS", "%pB", "%pf", "%pF"};
  for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++)
    if (formats->text && memmem(formats->text, formats->length, spelt[i], 3))
      return true;
  return false;
}

static void put_option(struct kymo_strbuf *out, unsigned id, const char *bytes, size_t size) {
  put(out, id, 2);
  put(out, size, 4);
  kymo_strbuf_add(out, bytes, size);
}

static int put_options(const struct kymo_kernel_head *head, struct kymo_strbuf *out,
                       struct kymo_error *error) {
  struct kymo_strbuf clock = {0}, number = {0};
  struct utsname names;
  char uname_text[4 * sizeof names.release];
  kymo_strbuf_add(out, "options  ", sizeof "options  ");
  int status = kymo_tracefs_read(head->instance->path, "trace_clock", &clock, error);
  if (status == KYMO_OK && clock.text)
    put_option(out, OPTION_TRACECLOCK, clock.text, clock.length + 1);
  if (!uname(&names)) {
    int length = snprintf(uname_text, sizeof uname_text, "%s %s %s %s", names.sysname, names.nodename,
                          names.release, names.machine);
    put_option(out, OPTION_UNAME, uname_text, (size_t)length + 1);
  }
  put(&number, head->cpus, 4);
  put_option(out, OPTION_CPUCOUNT, number.text, number.length);
  put(out, 0, 2);
  out->failed |= clock.failed || number.failed;
  kymo_strbuf_free(&clock);
  kymo_strbuf_free(&number);
  return status;
}

static int make(const struct kymo_kernel_head *head, struct kymo_strbuf *out, struct kymo_error *error) {
  kymo_strbuf_add(out, "\x17\x08\x44tracing6", sizeof "\x17\x08\x44tracing6");
  put(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 1);
  put(out, sizeof(long), 1);
  put(out, head->page_size, 4);
  int status = put_headers(head, out, error);
  if (status == KYMO_OK)
    status = put_own_formats(head, out, error);
  size_t formats = out->length;
  if (status == KYMO_OK)
    status = put_formats(head, out, error);
  const struct kymo_strbuf events = {.text = out->text + formats, .length = out->length - formats};
  if (status == KYMO_OK && needs_functions(&events))
    status = put_file(out, "/proc", "kallsyms", 4, error);
  else
    put(out, 0, 4);
  if (status == KYMO_OK)
    status = put_file(out, head->instance->tracefs, "printk_formats", 4, error);
  put(out, 0, 8); /* names of threads are in a file of their own, written at the end */
  put(out, head->cpus, 4);
  if (status == KYMO_OK)
    status = put_options(head, out, error);
  kymo_strbuf_add(out, "flyrecord", sizeof "flyrecord");
  for (uint32_t i = 0; i < 2 * head->cpus; i++)
    put(out, 0, 8); /* no pages */
  return status;
}

int kymo_kernel_head_write(const struct kymo_kernel_head *head, const char *path, struct kymo_error *error) {
  struct kymo_strbuf out = {0};
  int status = make(head, &out, error);
  if (status == KYMO_OK && out.failed)
    status = kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  FILE *file = status == KYMO_OK ? fopen(path, "wxe") : NULL;
  bool is_whole = file && fwrite(out.text, 1, out.length, file) == out.length;
  is_whole = file && !fclose(file) && is_whole;
  kymo_strbuf_free(&out);
  return status == KYMO_OK && !is_whole ? kymo_fail_errno(error, path, "cannot write") : status;
}
