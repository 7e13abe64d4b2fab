/* SPDX-License-Identifier: MIT */
#include "live/flight.h"
#include "base/fail.h"
#include "base/path.h"
#include "live/sync.h"
#include "ring/layout.h"
#include "ring/pools.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEAD_KEPT = 8 };

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

int kymo_flight_snapshot(struct kymo_flight *flight, const char *why, struct kymo_drain_sum *sum,
                         char directory[KYMO_PATH_MAX], struct kymo_error *error) {
  *sum = (struct kymo_drain_sum){0};
  if ((size_t)snprintf(directory, KYMO_PATH_MAX, "%s/snapshot-%zu", flight->directory,
                       flight->snapshots + 1) >= KYMO_PATH_MAX)
    return kymo_fail(error, KYMO_E_LIMIT, "the path is too long: %s", flight->directory);
  struct kymo_drain *drain = kymo_drain_new(&(struct kymo_drain_options){
      .rings = flight->rings, .directory = directory, .ctf2 = flight->ctf2, .keep_rings = true});
  if (!drain)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = mkdir(directory, 0777) ? kymo_fail_errno(error, directory, "cannot make the directory")
                                      : kymo_drain_end(drain, sum, error);
  kymo_drain_free(drain);
  if (!status && sum->processes)
    status = kymo_flight_put_cause(directory, why, error);
  if (!status && sum->processes)
    status = kymo_sync(directory, error); /* the cause too */
  if (!status && sum->left_out.code) {
    status = kymo_fail_at(error, sum->left_out.code, sum->left_out.file, sum->left_out.offset, "%s",
                          sum->left_out.message);
  }
  if (!sum->processes)
    rmdir(directory);
  else
    flight->snapshots++;
  return !status && !sum->processes ? KYMO_END : status;
}

void kymo_flight_clean(const struct kymo_flight *flight) { kymo_pool_clean(flight->rings, NULL, DEAD_KEPT); }

const char *kymo_flight_kept(struct kymo_flight *flight, size_t index) {
  DIR *dir = opendir(flight->rings);
  kymo_strbuf_free(&flight->kept);
  for (struct dirent *e; dir && (e = readdir(dir));)
    if (e->d_name[0] != '.' && index-- == 0) {
      kymo_strbuf_printf(&flight->kept, "%s/%s", flight->rings, e->d_name);
      break;
    }
  if (dir)
    closedir(dir);
  return flight->kept.text;
}

void kymo_flight_free(struct kymo_flight *flight) { kymo_strbuf_free(&flight->kept); }

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
