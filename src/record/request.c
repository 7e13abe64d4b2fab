/* SPDX-License-Identifier: MIT */
/*
 * Requests on the control socket, and the answers: docs/control.md.
 */
#include "record/point.h"
#include "record/registry.h"
#include "record/service.h"
#include "record/session.h"
#include "record/switch.h"
#include "ring/ring.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROTOCOL "1"

static int32_t
    recorder; /* pid of the process that is attached; -1: it has none in our namespace; 0: none is attached */
static struct kymo_strbuf recorded; /* … and his patterns */

/* ---- text ---- */

/* Removes the first word from *rest. */
static char *take_word(char **rest) {
  char *word = *rest + strspn(*rest, " ");
  char *end = word + strcspn(word, " ");
  *rest = *end ? end + 1 : end;
  *end = 0;
  return word;
}

/* Texts of the program, which may contain any bytes: separators of the protocol are replaced. */
static void put_text(struct kymo_strbuf *out, const char *text) {
  for (; *text; text++)
    kymo_strbuf_add(out, (unsigned char)*text < ' ' ? " " : text, 1);
}

static void refuse(struct kymo_strbuf *out, const char *why) { kymo_strbuf_printf(out, "error %s\n", why); }

/* ---- looking ---- */

struct totals {
  size_t points, on;
};

static void count(void *user, struct kymo_tracepoint *point, const struct kymo_point_text *text) {
  struct totals *totals = user;
  (void)text;
  totals->points++;
  totals->on += __atomic_load_n(&point->enabled, __ATOMIC_RELAXED) != 0;
}

static const char *mode_name(uint32_t mode) { return mode == KYMO_MODE_DISCARD ? "discard" : "overwrite"; }

/* The recorder of this process: the attached one, or the one that started it and drains its rings. */
static int32_t recorder_pid(void) {
  const struct kymo_pool *pool = &kymo_session_.pool;
  if (recorder)
    return recorder;
  return kymo_pool_is_ours() ? kymo_pool_reader(pool->header, pool->directory) : 0;
}

static void info(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  struct totals totals = {0};
  (void)peer, (void)rest;
  kymo_registry_visit(count, &totals);
  kymo_strbuf_printf(out, "ok\npid %d\nprogram ", (int)getpid());
  put_text(out, kymo_session_.program);
  kymo_strbuf_printf(
      out, "\ntracepoints %zu\non %zu\nmode %s\n", totals.points, totals.on,
      mode_name(kymo_pool_is_ours() ? kymo_session_.pool.header->mode : kymo_session_.options.mode));
  if (recorder_pid())
    kymo_strbuf_printf(out, "recorder %d\n", recorder_pid());
  if (kymo_pool_is_ours())
    kymo_strbuf_printf(out, "rings %s\n", kymo_session_.pool.directory);
}

static void list_point(void *user, struct kymo_tracepoint *point, const struct kymo_point_text *text) {
  struct kymo_strbuf *out = user;
  kymo_strbuf_puts(out, __atomic_load_n(&point->enabled, __ATOMIC_RELAXED) ? "on\t" : "off\t");
  if (text->level < 0)
    kymo_strbuf_puts(out, "-");
  else
    kymo_strbuf_printf(out, "%d", text->level);
  kymo_strbuf_printf(out, "\t%u\t", text->line);
  put_text(out, text->name);
  kymo_strbuf_puts(out, "\t");
  put_text(out, text->file);
  kymo_strbuf_puts(out, "\n");
}

static void list(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  (void)peer, (void)rest;
  kymo_strbuf_puts(out, "ok\n");
  if (!kymo_registry_visit(list_point, out))
    out->failed = true;
}

/* ---- switching ---- */

/* "LEVEL PATTERNS" */
static bool read_choice(struct kymo_choice *choice, char *rest, struct kymo_strbuf *out) {
  char *end, *level = take_word(&rest);
  long number = strtol(level, &end, 10);
  bool is_any = !strcmp(level, "-");
  *choice = (struct kymo_choice){rest, is_any ? KYMO_LEVEL_ANY : (int32_t)number};
  if ((is_any || (*level && !*end && number >= 0 && number < 1000)) && *rest)
    return true;
  refuse(out, "expected a level, or -, and patterns");
  return false;
}

static void enable_or_disable(char *rest, struct kymo_strbuf *out, bool on) {
  struct kymo_choice choice;
  const char *wrong = "";
  if (!read_choice(&choice, rest, out))
    return;
  int matched = kymo_switch(&choice, on, &wrong);
  if (matched < 0)
    refuse(out, wrong);
  else
    kymo_strbuf_printf(out, "ok\nmatched %d\n", matched);
}

static void enable(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  (void)peer;
  enable_or_disable(rest, out, true);
}

static void disable(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  (void)peer;
  enable_or_disable(rest, out, false);
}

static bool read_mode(const char *name, uint32_t *mode, struct kymo_strbuf *out) {
  *mode = strcmp(name, "discard") ? KYMO_MODE_OVERWRITE : KYMO_MODE_DISCARD;
  if (!strcmp(name, mode_name(*mode)))
    return true;
  refuse(out, "expected the mode discard or overwrite");
  return false;
}

/* A recorder has chosen the mode, and drains the rings. */
static bool is_free(struct kymo_strbuf *out) {
  int32_t pid = recorder_pid();
  if (pid > 0)
    kymo_strbuf_printf(out, "error process %d is being recorded by process %d\n", (int)getpid(), pid);
  else if (pid)
    kymo_strbuf_printf(out, "error process %d is being recorded from another PID namespace\n", (int)getpid());
  return !pid;
}

static void set_mode(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  uint32_t mode;
  (void)peer;
  if (!read_mode(take_word(&rest), &mode, out) || !is_free(out))
    return;
  kymo_session_.options.mode = mode;
  kymo_switch_mode(mode);
  kymo_strbuf_puts(out, "ok\n");
}

static void flush(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  (void)peer, (void)rest;
  if (kymo_pool_is_ours())
    kymo_writer_poison(UINT64_MAX);
  kymo_strbuf_puts(out, "ok\n");
}

/* ---- recording ---- */

/* "MODE LEVEL PATTERNS": creates rings, so that the recorder can prepare. */
static void attach(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  uint32_t mode;
  struct kymo_choice choice;
  char *name = take_word(&rest);
  if (!is_free(out) || !read_mode(name, &mode, out))
    return;
  kymo_strbuf_free(&recorded);
  kymo_strbuf_puts(&recorded, rest);
  if (recorded.failed || !read_choice(&choice, rest, out))
    return;
  kymo_pool_retry();
  if (!kymo_pool_make(false)) {
    refuse(out, strerrordesc_np(errno));
    return;
  }
  recorder = peer->pid ? peer->pid : -1;
  peer->is_recorder = true;
  __atomic_store_n(&kymo_session_.is_recorded, true, __ATOMIC_RELAXED);
  kymo_switch_mode(mode);
  if (!kymo_session_.options.buffer_is_chosen)
    __atomic_store_n(&kymo_session_.grow_bytes, KYMO_GROW_RECORDED,
                     __ATOMIC_RELAXED); /* partner: kymo_pool_claim_more */
  kymo_strbuf_printf(out, "ok\nrings %s\n", kymo_session_.pool.directory);
}

/* Enables the tracepoints that the attached recorder wants. */
static void start(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  struct kymo_choice choice;
  struct totals totals = {0};
  const char *wrong = "";
  (void)rest;
  if (!peer->is_recorder || !recorded.length) {
    refuse(out, "attach first");
    return;
  }
  bool is_read = read_choice(&choice, recorded.text, out);
  if (!is_read || !kymo_rules_attach(&choice, &wrong)) {
    if (is_read)
      refuse(out, wrong);
    return;
  }
  if (!kymo_registry_apply())
    refuse(out, strerrordesc_np(errno));
  else {
    kymo_registry_visit(count, &totals);
    kymo_strbuf_printf(out, "ok\non %zu\n", totals.on);
  }
}

static void detach(void) {
  recorder = 0;
  kymo_strbuf_free(&recorded);
  __atomic_store_n(&kymo_session_.is_recorded, false, __ATOMIC_RELAXED);
  kymo_rules_detach();
  kymo_registry_apply();
  __atomic_store_n(&kymo_session_.grow_bytes, kymo_session_.options.grow_bytes, __ATOMIC_RELAXED);
  kymo_switch_mode(kymo_session_.options.mode);
}

static void leave(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out) {
  (void)rest;
  if (!peer->is_recorder) {
    refuse(out, "attach first");
    return;
  }
  detach();
  peer->is_recorder = false;
  kymo_strbuf_puts(out, "ok\n");
}

void kymo_request_hang_up(struct kymo_peer *peer) {
  if (!peer->is_recorder)
    return;
  kymo_lock();
  detach();
  kymo_unlock();
}

void kymo_request_forget(void) {
  if (recorder)
    detach();
}

/* ---- requests ---- */

static const struct verb {
  const char *name;
  void (*answer)(struct kymo_peer *peer, char *rest, struct kymo_strbuf *out);
} verbs[] = {
    {"info", info},   {"list", list},     {"enable", enable}, {"disable", disable}, {"mode", set_mode},
    {"flush", flush}, {"attach", attach}, {"start", start},   {"detach", leave},
};

bool kymo_request_answer(struct kymo_peer *peer, char *line, struct kymo_strbuf *answer) {
  char *version = take_word(&line), *name = take_word(&line);
  const struct verb *verb = NULL;
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    if (!strcmp(name, verbs[i].name))
      verb = &verbs[i];
  if (strcmp(version, PROTOCOL) != 0)
    refuse(answer, "expected version " PROTOCOL " of the protocol");
  else if (!verb)
    refuse(answer, "no such request");
  else {
    kymo_lock();
    verb->answer(peer, line, answer);
    kymo_unlock();
  }
  kymo_strbuf_puts(answer, "end\n");
  return verb && !strcmp(version, PROTOCOL);
}
