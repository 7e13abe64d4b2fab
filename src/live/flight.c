/* SPDX-License-Identifier: MIT */
#include "live/flight.h"
#include "base/fail.h"
#include "base/path.h"
#include "live/drain.h"
#include "live/sync.h"
#include "ring/layout.h"
#include "ring/places.h"
#include "ring/pools.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEAD_KEPT = 8 };

static int signal_of(const char *word) {
  char *end;
  long number = strtol(word, &end, 10);
  if (end != word && !*end)
    return number > 0 && number < NSIG ? (int)number : 0;
  if (!strncmp(word, "SIG", 3))
    word += 3;
  for (int i = 1; i < NSIG; i++)
    if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), word))
      return i;
  return 0;
}

bool kymo_flight_add(struct kymo_flight_triggers *triggers, const char *word) {
  if (!triggers->any)
    sigemptyset(&triggers->signals);
  triggers->any = true;
  if (!strcmp(word, "exit-code"))
    return triggers->exit_code = true;
  if (!strcmp(word, "crash"))
    return triggers->crash = true;
  int number = signal_of(word);
  return number && number != SIGKILL && number != SIGSTOP && number != SIGCHLD &&
         !sigaddset(&triggers->signals, number);
}

int kymo_flight_put_cause(const char *directory, const char *why, struct kymo_error *error) {
  char path[KYMO_PATH_MAX + sizeof KYMO_HIDDEN_CAUSE];
  kymo_path_join(path, sizeof path, directory, KYMO_HIDDEN);
  mkdir(path, 0777); /* it is there if one process was recorded */
  kymo_path_join(path, sizeof path, directory, KYMO_HIDDEN_CAUSE);
  FILE *file = fopen(path, "wxe");
  bool is_written = file && fprintf(file, "%s\n", why) > 0;
  if (file && fclose(file))
    is_written = false;
  return is_written ? KYMO_OK : kymo_fail_errno(error, path, "cannot write");
}

int kymo_flight_snapshot(struct kymo_flight *flight, const char *why, struct kymo_error *error) {
  char directory[KYMO_PATH_MAX];
  struct kymo_drain_sum sum = {0};
  if ((size_t)snprintf(directory, sizeof directory, "%s/snapshot-%zu", flight->directory,
                       flight->snapshots + 1) >= sizeof directory)
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", flight->directory);
  struct kymo_drain *drain = kymo_drain_new(&(struct kymo_drain_options){
      .rings = flight->rings, .directory = directory, .ctf2 = flight->ctf2, .keep_rings = true});
  if (!drain)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = mkdir(directory, 0777) ? kymo_fail_errno(error, directory, "cannot make the directory")
                                      : kymo_drain_end(drain, &sum, error);
  kymo_drain_free(drain);
  if (!status && sum.processes)
    status = kymo_flight_put_cause(directory, why, error);
  if (!status && sum.processes)
    status = kymo_sync(directory, error); /* the cause too */
  if (!status && sum.left_out.code) {
    *error = sum.left_out;
    status = sum.left_out.code;
  }
  if (!sum.processes)
    rmdir(directory);
  else
    flight->snapshots++;
  if (!status && !flight->quiet && sum.processes)
    fprintf(stderr,
            "kymo record: %s: snapshot in %s: %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64
            " overwritten\n",
            why, directory, sum.events, sum.discarded, sum.overwritten);
  else if (!status && !flight->quiet)
    fprintf(stderr, "kymo record: %s: no process has recorded anything yet\n", why);
  return status;
}

void kymo_flight_clean(const struct kymo_flight *flight) { kymo_pool_clean(flight->rings, NULL, DEAD_KEPT); }

void kymo_flight_end(const struct kymo_flight *flight) {
  DIR *dir = opendir(flight->rings);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char path[2 * KYMO_PATH_MAX];
    kymo_path_join(path, sizeof path, flight->rings, e->d_name);
    if (e->d_name[0] != '.')
      kymo_pool_delete(path);
  }
  if (dir)
    closedir(dir);
}
