/* SPDX-License-Identifier: MIT */
/*
 * kymo snapshot: saves what a process's rings hold, without asking the process, which may be stopped, hung or
 * dead. --last leaves out what is older, to the event: the rings are read once to find where to begin in
 * each, and packets keep their numbers, and events their places in them, until they are overwritten.
 */
#include "base/fail.h"
#include "live/client.h"
#include "live/ctf2.h"
#include "live/exits.h"
#include "live/find.h"
#include "live/flight.h"
#include "live/sync.h"
#include "print/duration.h"
#include "ring/collect.h"
#include "ring/life.h"
#include "tool/rings.h"
#include <kymo/time.h>
#include "tool/tool.h"
#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTION_LAST = 256, OPTION_CTF };

struct snapshot {
  const char *process;   /* a number, a name, or a directory of rings */
  const char *directory; /* -o, or NULL */
  int64_t last_ns;       /* -1: all */
  const char *last;      /* as it was given */
  int64_t covered_ns;    /* of these, what the rings of all threads hold; -1: all */
  bool is_overwritten;   /* … because the rest was overwritten, else because nothing was recorded before */
  bool ctf2, quiet;
  char rings[KYMO_PATH_MAX], trace[KYMO_PATH_MAX];
  struct kymo_pool_view view;
  struct kymo_collector collector;
  bool is_written;   /* at least in part */
  bool is_ambiguous; /* the name is of several processes, which has been said */
};

static const struct argp_option options[] = {
    {"output", 'o', "DIRECTORY", 0,
     "Write the trace to DIRECTORY, which must be missing or empty; else to a new one "
     "under $KYMO_OUT or $HOME/kymo-traces",
     0},
    {"last", OPTION_LAST, "TIME", 0, "Only events of the last TIME, as 10s or 2min, before the newest event",
     0},
    {"ctf", OPTION_CTF, "VERSION", 0,
     "Describe the trace in TSDL, as CTF 1.8 (default), or in JSON, as CTF 2, which older readers do not "
     "know",
     0},
    {"quiet", 'q', NULL, 0, "Do not tell where the trace is and what was lost", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state) {
  struct snapshot *snapshot = state->input;
  struct kymo_time_mistake mistake;
  switch (key) {
  case 'o': snapshot->directory = argument; return 0;
  case OPTION_LAST:
    if (!kymo_duration_parse(&snapshot->last_ns, argument, &mistake) || snapshot->last_ns < 0)
      argp_error(state, "--last is a time like 10s, not \"%s\"", argument);
    snapshot->last = argument;
    return 0;
  case OPTION_CTF:
    snapshot->ctf2 = !strcmp(argument, "2");
    if (!snapshot->ctf2 && strcmp(argument, "1.8"))
      argp_error(state, "--ctf is 1.8 or 2, not \"%s\"", argument);
    return 0;
  case 'q': snapshot->quiet = true; return 0;
  case ARGP_KEY_ARG: snapshot->process = argument; return state->arg_num ? ARGP_ERR_UNKNOWN : 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "of which process?"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PID|NAME|RINGS",
    .doc =
        "Save what the rings of a process hold now as a trace. The process is not asked: it may be stopped, "
        "hang, or be "
        "dead. NAME is that of a program of which one process alone has rings.",
};

/* ---- the last seconds ---- */

/* What has been met of one ring so far. */
struct met {
  uint64_t sequence, events; /* of the packet, and before the event in it */
  bool is_found;
  uint64_t packet, before; /* where its first event that is new enough stands */
  uint32_t offset;         /* bytes */
  bool has_first;
  uint64_t first_packet; /* its oldest event … */
  int64_t first_ns;      /* … and when that was */
};

static void meet(struct met *met, const struct kymo_event *event, int64_t since_ns) {
  if (event->packet->sequence != met->sequence) {
    met->sequence = event->packet->sequence;
    met->events = 0;
  }
  if (!met->has_first) {
    met->has_first = true;
    met->first_packet = met->sequence - 1; /* number 0 is the empty one before */
    met->first_ns = event->time_ns;
  }
  if (!met->is_found && event->time_ns >= since_ns) {
    met->is_found = true;
    met->packet = met->sequence - 1; /* number 0 is the empty one in front */
    met->before = met->events;
    met->offset = (uint32_t)(event->offset_bits / 8);
  }
  met->events++;
}

static int meet_all(struct kymo_trace *trace, struct met *met, uint64_t count, int64_t since_ns) {
  struct kymo_error error;
  const struct kymo_event *event;
  int status;
  while ((status = kymo_get_next(trace, &event, &error)) == KYMO_OK) {
    uint64_t instance = event->packet->stream->instance;
    if (instance < count && event->has_time && event->packet->sequence != UINT64_MAX)
      meet(&met[instance], event, since_ns);
  }
  return status < 0 ? status : KYMO_OK;
}

/* By cause that is known of the packet before, or counted up to this one's end if there is none. */
static struct kymo_collect_lost lost_before(const struct kymo_ring_view *ring, uint64_t number,
                                            uint64_t first) {
  const struct kymo_packet_control *packet = &ring->packet[number & (ring->packets - 1)];
  const struct kymo_packet_control *before =
      &ring->packet[(number > first ? number - 1 : number) & (ring->packets - 1)];
  return (struct kymo_collect_lost){.discarded = packet->discarded_before,
                                    .large = before->discarded_large,
                                    .nested = before->discarded_nested};
}

static void start_ring(struct kymo_collector *c, uint32_t index, const struct met *met) {
  struct kymo_ring_view ring = kymo_pool_ring(c->pool, index / 2, index % 2);
  struct kymo_collect_start start = {.lost = kymo_collect_lost_now(&ring)};
  uint64_t first, end;
  kymo_ring_range(&ring, &first, &end);
  if (met->is_found && (met->packet < first || (met->packet == first && !met->before)))
    return; /* nothing that the ring holds is too old */
  if (met->is_found) {
    const struct kymo_packet_control *packet = &ring.packet[met->packet & (ring.packets - 1)];
    start.packet = met->packet;
    start.word = (packet->first_event + met->before) << 16 | met->offset;
    start.lost = lost_before(&ring, met->packet, first);
  } else if (end) {
    start.packet = end - 1;
    start.word = kymo_ring_word(&ring, end - 1);
  } else
    return;
  kymo_collect_from(c, index, &start);
}

/* How much of the time that was asked for the rings hold: of a thread whose older events were overwritten,
 * only what came since. */
static void measure(struct snapshot *snapshot, const struct met *met, uint32_t count, int64_t begin_ns,
                    int64_t end_ns) {
  int64_t since_ns = end_ns - snapshot->last_ns;
  if (begin_ns > since_ns)
    snapshot->covered_ns = end_ns - begin_ns;
  for (uint32_t i = 0; i < count; i++) {
    if (!met[i].has_first || !met[i].first_packet || met[i].first_ns <= since_ns)
      continue;
    snapshot->is_overwritten = true;
    if (snapshot->covered_ns < 0 || end_ns - met[i].first_ns < snapshot->covered_ns)
      snapshot->covered_ns = end_ns - met[i].first_ns;
  }
}

static int find_starts(struct snapshot *snapshot, struct kymo_error *error) {
  const char *path = snapshot->rings;
  struct kymo_open_options how = {.size = sizeof how, .format = "ring"};
  struct kymo_trace *trace = NULL;
  uint32_t count = kymo_pool_slots(&snapshot->view) * 2;
  int64_t begin_ns, end_ns;
  struct met *met = calloc((size_t)count + 1, sizeof *met);
  if (!met)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = kymo_open(&trace, &path, 1, &how, error);
  if (!status)
    status = kymo_trace_range(trace, &begin_ns, &end_ns, error);
  if (status == KYMO_E_ABSENT) /* nothing has a time */
    status = KYMO_OK;
  else if (!status) {
    status = meet_all(trace, met, count, end_ns - snapshot->last_ns);
    measure(snapshot, met, count, begin_ns, end_ns);
    for (uint32_t i = 0; !status && i < count; i++)
      start_ring(&snapshot->collector, i, &met[i]);
  }
  kymo_close(trace);
  free(met);
  return status;
}

/* ---- saving ---- */

static int find_rings(struct snapshot *snapshot, struct kymo_error *error) {
  int pid = kymo_pid_of(snapshot->process);
  if (pid > 0)
    return kymo_find_pool(snapshot->rings, pid, error);
  if (tool_rings_may_name(snapshot->process)) {
    struct kymo_hint hint;
    int found = tool_rings_named(snapshot->rings, snapshot->process, false, &hint);
    snapshot->is_ambiguous = found == TOOL_USAGE;
    return found == TOOL_OK ? KYMO_OK
                            : kymo_fail(error, KYMO_E_UNKNOWN, "there are no rings of a program \"%s\"%s",
                                        snapshot->process, hint.text);
  }
  if ((size_t)snprintf(snapshot->rings, sizeof snapshot->rings, "%s", snapshot->process) >=
      sizeof snapshot->rings)
    return kymo_fail(error, KYMO_E_USAGE, "the path is too long: %s", snapshot->process);
  return KYMO_OK;
}

static int make_trace(struct snapshot *snapshot, struct kymo_error *error) {
  char program[KYMO_PROGRAM_MAX];
  if (kymo_trace_place(snapshot->trace, snapshot->directory, secure_getenv("KYMO_OUT"),
                       kymo_pool_program(&snapshot->view, program)))
    return KYMO_OK;
  int status = kymo_fail_errno(error, snapshot->directory ? snapshot->directory : snapshot->trace,
                               "cannot make the directory");
  snapshot->trace[0] = 0; /* it is not ours */
  return status;
}

/* "server (process 4711): Segmentation fault in thread 4712" if the rings hold a mark of it. */
enum { END_MAX = 96 };
static const char *end_text(int status, int thread, char out[END_MAX]) {
  if (WIFEXITED(status))
    snprintf(out, END_MAX, "exit status %d", WEXITSTATUS(status));
  else if (thread)
    snprintf(out, END_MAX, "%s in thread %d", strsignal(WTERMSIG(status)), thread);
  else
    snprintf(out, END_MAX, "%s", strsignal(WTERMSIG(status)));
  return out;
}

static int put_end(const struct snapshot *snapshot, struct kymo_error *error) {
  const struct kymo_pool_header *header = snapshot->view.header;
  char why[KYMO_PROGRAM_MAX + 160], program[KYMO_PROGRAM_MAX], end[END_MAX];
  int status, thread;
  if (!kymo_exit_of_pool(header, &status, &thread) || !WIFSIGNALED(status))
    return KYMO_OK;
  snprintf(why, sizeof why, "%s (process %d): %s", kymo_pool_program(&snapshot->view, program), header->pid,
           end_text(status, thread, end));
  return kymo_flight_put_cause(snapshot->trace, why, error);
}

static int save(struct snapshot *snapshot, struct kymo_error *error) {
  int status = find_rings(snapshot, error);
  if (!status)
    status = kymo_pool_open(&snapshot->view, snapshot->rings, false, error);
  if (!status)
    status = make_trace(snapshot, error);
  if (!status)
    status =
        kymo_collect_begin(&snapshot->collector, &snapshot->view, snapshot->rings, snapshot->trace, error);
  if (!status && snapshot->last_ns >= 0)
    status = find_starts(snapshot, error);
  if (!status) {
    status = kymo_collect_end(&snapshot->collector, error);
    snapshot->is_written = !status || kymo_collect_abandon(&snapshot->collector);
  }
  if (!status)
    status = kymo_pool_verify(&snapshot->view, snapshot->rings, error);
  if (!status)
    status = put_end(snapshot, error);
  if (!status && snapshot->ctf2)
    status = kymo_trace_to_ctf2(snapshot->trace, error);
  if (!status)
    status = kymo_sync(snapshot->trace, error);
  return status;
}

/* What was discarded, or overwritten between events that are there. That older ones were overwritten is what
 * such rings are for. */
static uint64_t lost_of(const struct kymo_collect_sums *sums) {
  return sums->discarded + sums->overwritten_between;
}

/* Why a process died is what somebody looks for in its last events. */
static void tell_end(const struct snapshot *snapshot) {
  const struct kymo_pool_header *header = snapshot->view.header;
  char end[END_MAX];
  int status, thread;
  if (kymo_exit_of_pool(header, &status, &thread))
    tool_say("process %d died: %s", header->pid, end_text(status, thread, end));
  else if (!header->finished && header->pid_namespace == kymo_pid_namespace() && !kymo_life_by_pid(header))
    tool_say(
        "process %d was killed, or ended by _exit; with KYMO_CRASH=mark in its environment, a signal that "
        "dumps core is noted",
        header->pid);
}

static void summarise(const struct snapshot *snapshot) {
  const struct kymo_collect_sums *sums = &snapshot->collector.sums;
  char overwritten[48] = "";
  if (sums->overwritten > sums->overwritten_between)
    snprintf(overwritten, sizeof overwritten, ", %llu overwritten",
             (unsigned long long)(sums->overwritten - sums->overwritten_between));
  tool_say("trace in %s: %llu events, %llu lost%s", snapshot->trace, (unsigned long long)sums->events,
           (unsigned long long)lost_of(sums), overwritten);
  tell_end(snapshot);
  char covered[KYMO_DURATION_TEXT];
  kymo_duration_exact(snapshot->covered_ns > 0 ? (uint64_t)snapshot->covered_ns : 0, covered);
  if (snapshot->is_overwritten)
    tool_say(
        "it covers %s of all threads, not %s: older events were overwritten; larger rings (KYMO_BUFFER, or "
        "--buffer of kymo "
        "record) keep more",
        covered, snapshot->last);
  else if (snapshot->covered_ns >= 0)
    tool_say("it covers %s, not %s: no older event was recorded", covered, snapshot->last);
}

static int run(int argc, char **argv) {
  struct snapshot snapshot = {.last_ns = -1, .covered_ns = -1};
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  tool_parse(&parser, argc, argv, 0, NULL, &snapshot);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing */
  int status = save(&snapshot, &error);
  const struct kymo_error *left_out = &snapshot.collector.left_out;
  if (status && !snapshot.is_ambiguous)
    tool_say_error(&error);
  if (left_out->code)
    tool_say_error(left_out);
  if (!snapshot.is_written && snapshot.trace[0])
    rmdir(snapshot.trace);
  if (snapshot.is_written && !snapshot.quiet)
    summarise(&snapshot);
  int lost = snapshot.is_written
                 ? tool_tell_losses((struct kymo_losses){.events = lost_of(&snapshot.collector.sums)},
                                    snapshot.quiet)
                 : TOOL_OK;
  bool is_whole = !status && !left_out->code;
  kymo_collect_free(&snapshot.collector);
  kymo_pool_close(&snapshot.view);
  return snapshot.is_ambiguous ? TOOL_USAGE
         : is_whole            ? lost
         : snapshot.is_written ? TOOL_DAMAGED
                               : TOOL_FAILED;
}

const struct tool_command tool_snapshot = {
    .name = "snapshot",
    .summary = "save the rings of a process that runs, hangs or is dead",
    .run = run,
};
