/* SPDX-License-Identifier: MIT */
/* Control sockets that are left over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ring/places.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MINUTE = 60 };

struct place {
  char directory[80];
  struct sockaddr_un address;
  int fd;
};

/* A socket with the number of a process; without `listens` as one that a dead process has left, or has just
 * bound. */
static void make(struct place *place, int pid, bool listens) {
  const char *parent = getenv("TMPDIR");
  snprintf(place->directory, sizeof place->directory, "%s/kymo-places-XXXXXX", parent ? parent : "/tmp");
  assert_non_null(mkdtemp(place->directory));
  place->address = (struct sockaddr_un){.sun_family = AF_UNIX};
  snprintf(place->address.sun_path, sizeof place->address.sun_path, "%s/" KYMO_CONTROL_PREFIX "%d",
           place->directory, pid);
  place->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_false(bind(place->fd, (struct sockaddr *)&place->address, sizeof place->address));
  if (listens)
    assert_false(listen(place->fd, 1));
}

static int64_t made_at(const struct place *place) {
  struct stat st;
  assert_false(lstat(place->address.sun_path, &st));
  return st.st_ctime;
}

static void end(struct place *place) {
  close(place->fd);
  unlink(place->address.sun_path);
  assert_false(rmdir(place->directory));
}

static int dead_pid(void) {
  pid_t pid = fork();
  if (!pid)
    _exit(0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  return pid;
}

static void a_socket_of_a_dead_process_goes_at_once(void **state) {
  (void)state;
  struct place place;
  make(&place, dead_pid(), false);
  assert_int_equal(kymo_control_clean(place.directory, made_at(&place)), 1);
  assert_int_equal(access(place.address.sun_path, F_OK), -1);
  end(&place);
}

static void one_with_a_living_number_goes_after_a_minute(void **state) {
  (void)state;
  struct place place;
  make(&place, getpid(), false);
  int64_t made = made_at(&place);
  assert_int_equal(kymo_control_clean(place.directory, made), 0);
  assert_int_equal(kymo_control_clean(place.directory, made + MINUTE - 1), 0);
  assert_int_equal(access(place.address.sun_path, F_OK), 0);
  assert_int_equal(kymo_control_clean(place.directory, made + MINUTE), 1);
  end(&place);
}

static void one_that_somebody_listens_at_stays(void **state) {
  (void)state;
  struct place place;
  make(&place, getpid(), true);
  assert_int_equal(kymo_control_clean(place.directory, made_at(&place) + 1000 * MINUTE), 0);
  end(&place);
}

static void what_is_no_socket_stays(void **state) {
  (void)state;
  struct place place;
  make(&place, dead_pid(), false);
  unlink(place.address.sun_path);
  FILE *file = fopen(place.address.sun_path, "w");
  assert_non_null(file);
  fclose(file);
  assert_int_equal(kymo_control_clean(place.directory, made_at(&place) + MINUTE), 0);
  end(&place);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_socket_of_a_dead_process_goes_at_once),
      cmocka_unit_test(one_with_a_living_number_goes_after_a_minute),
      cmocka_unit_test(one_that_somebody_listens_at_stays),
      cmocka_unit_test(what_is_no_socket_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
