/* SPDX-License-Identifier: MIT */
/*
 * A process listens at DIRECTORY/control-PID. DIRECTORY is one of those that this process would use itself,
 * or, for processes of other users or with another environment, one from the kernel's list of sockets in
 * their network namespace; if necessary seen from another root. PID is the process's own number, which in a
 * container differs from ours. The answer must come from the process itself.
 */
#include "live/client.h"
#include "base/fail.h"
#include "base/list.h"
#include "ring/exits.h"
#include "live/inner.h"
#include "ring/places.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_SECONDS = 5, ANSWER_MAX = 256 << 20 };

int kymo_pid_of(const char *word) {
  char *end;
  errno = 0;
  long pid = isdigit((unsigned char)*word) ? strtol(word, &end, 10) : -1;
  return pid > 0 && !errno && !*end && pid <= INT32_MAX ? (int)pid : -1;
}

/* ---- processes ---- */

/* The name and the state letter of /proc/PID/stat. */
static bool read_stat(int pid, char name[64], char *state) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "re");
  size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file)
    fclose(file);
  text[length] = 0;
  char *open = strchr(text, '('), *close = strrchr(text, ')');
  if (!open || !close || close < open || close[1] != ' ')
    return false;
  *close = 0;
  snprintf(name, 64, "%s", open + 1);
  *state = close[2];
  return true;
}

const char *kymo_process_name(int pid, char *out, size_t size) {
  char name[64], state;
  if (read_stat(pid, name, &state))
    snprintf(out, size, "process %d (%s)", pid, name);
  else
    snprintf(out, size, "process %d", pid);
  return out;
}

const char *kymo_process_program(int pid, char *out, size_t size) {
  char name[64], state;
  snprintf(out, size, "%s", read_stat(pid, name, &state) ? name : "");
  return out;
}

static bool is_stopped(int pid) {
  char name[64], state;
  return read_stat(pid, name, &state) && (state == 'T' || state == 't');
}

static int no_answer(int pid, struct kymo_error *error) {
  char who[128];
  return kymo_fail(error, KYMO_E_SYSTEM, "%s does not answer%s; its rings can be read: kymo snapshot %d",
                   kymo_process_name(pid, who, sizeof who), is_stopped(pid) ? ": it is stopped" : "", pid);
}

/* ---- sockets ---- */

static bool is_itself(int fd, int pid) {
  struct ucred who;
  socklen_t size = sizeof who;
  return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) && who.pid == pid;
}

/* The address of a socket; one with a long path by a descriptor of its directory, to be closed. False with
 * errno. */
static bool make_address(struct sockaddr_un *address, const char *path, int *directory) {
  char parent[KYMO_PATH_MAX];
  const char *slash = strrchr(path, '/');
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  *directory = -1;
  if (strlen(path) < sizeof address->sun_path) {
    memcpy(address->sun_path, path, strlen(path));
    return true;
  }
  errno = ENAMETOOLONG;
  if (!slash || (size_t)snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path) >= sizeof parent)
    return false;
  *directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (*directory < 0)
    return false;
  int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d%s", *directory, slash);
  return length < (int)sizeof address->sun_path;
}

static int new_socket(void) {
  const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) {
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  return fd;
}

/* A descriptor, or -1 with errno. */
static int call(const char *path, int pid) {
  struct sockaddr_un address;
  int directory, fd = make_address(&address, path, &directory) ? new_socket() : -1;
  bool is_called = fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address);
  int reason = errno;
  if (is_called && !is_itself(fd, pid)) {
    is_called = false;
    reason = ENOENT;
  }
  if (directory >= 0)
    close(directory);
  if (fd >= 0 && !is_called)
    close(fd);
  errno = reason;
  return is_called ? fd : -1;
}

/* Calls `visitor` with path and pid of each control socket in the kernel's list, until it returns true. */
static bool search_net_unix(const char *list, bool (*visitor)(void *user, const char *path, int pid),
                            void *user) {
  FILE *file = fopen(list, "re");
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  for (ssize_t length; file && !found && (length = getline(&line, &room, file)) > 0;) {
    if (line[length - 1] == '\n')
      line[length - 1] = 0;
    char *path = strchr(line, '/'), *name = path ? strrchr(path, '/') + 1 : NULL;
    if (name && !strncmp(name, KYMO_CONTROL_PREFIX, sizeof KYMO_CONTROL_PREFIX - 1)) {
      int pid = kymo_pid_of(name + sizeof KYMO_CONTROL_PREFIX - 1);
      found = pid > 0 && visitor(user, path, pid);
    }
  }
  free(line);
  if (file)
    fclose(file);
  return found;
}

static bool try_path(void *user, const char *path, int pid) {
  struct kymo_client *client = user;
  char below[256];
  if (pid != client->inner)
    return false;
  client->fd = call(path, client->pid);
  if (client->fd < 0 &&
      (size_t)snprintf(below, sizeof below, "/proc/%d/root%s", client->pid, path) < sizeof below)
    client->fd = call(below, client->pid);
  return client->fd >= 0;
}

static int open_once(struct kymo_client *client, int pid, struct kymo_error *error) {
  char directory[KYMO_CONTROL_PATH_MAX], path[256], who[128];
  *client = (struct kymo_client){.fd = -1, .pid = pid};
  if (pid <= 0 || (kill(pid, 0) && errno == ESRCH))
    return kymo_fail(error, KYMO_E_UNKNOWN, "there is no process %d", pid);
  client->inner = kymo_inner_pid(pid);
  if (is_stopped(pid))
    return no_answer(pid, error);
  for (int place = 0; client->fd < 0 && place < KYMO_CONTROL_PLACES; place++)
    if (kymo_control_directory(directory, place, false)) {
      snprintf(path, sizeof path, "%s/" KYMO_CONTROL_PREFIX "%d", directory, client->inner);
      client->fd = call(path, pid);
      if (client->fd < 0 && errno == EAGAIN && client->inner == pid)
        return no_answer(pid, error);
    }
  if (client->fd >= 0)
    return KYMO_OK;
  snprintf(path, sizeof path, "/proc/%d/net/unix", pid);
  if (search_net_unix(path, try_path, client))
    return KYMO_OK;
  if (kill(pid, 0))
    return kymo_fail(error, KYMO_E_SYSTEM, "%s belongs to another user",
                     kymo_process_name(pid, who, sizeof who));
  int status;
  if (kymo_exit_of_zombie(pid, 0, &status))
    return kymo_fail(error, KYMO_E_UNKNOWN, "%s has ended; kymo snapshot saves what its rings hold",
                     kymo_process_name(pid, who, sizeof who));
  return kymo_fail(error, KYMO_E_UNKNOWN, "%s has no tracepoints, or its control is off",
                   kymo_process_name(pid, who, sizeof who));
}

/* A process that began a moment ago may not listen yet: `./app & kymo record -p $!`. */
int kymo_client_open(struct kymo_client *client, int pid, struct kymo_error *error) {
  enum { YOUNG_MS = 1000, PAUSE_MS = 10 };
  int status = open_once(client, pid, error),
      left_ms = status == KYMO_E_UNKNOWN ? YOUNG_MS - kymo_exit_age_ms(pid) : 0;
  for (; status == KYMO_E_UNKNOWN && left_ms > 0; left_ms -= PAUSE_MS) {
    usleep(PAUSE_MS * 1000);
    status = open_once(client, pid, error);
  }
  return status;
}

void kymo_client_close(struct kymo_client *client) {
  if (client->fd >= 0)
    close(client->fd);
  client->fd = -1;
  kymo_strbuf_free(&client->answer);
}

/* ---- requests ---- */

static int send_all(const struct kymo_client *client, const char *bytes, size_t size,
                    struct kymo_error *error) {
  while (size) {
    ssize_t n = send(client->fd, bytes, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return no_answer(client->pid, error);
    bytes += n;
    size -= (size_t)n;
  }
  return KYMO_OK;
}

static bool is_whole(const struct kymo_strbuf *answer) {
  static const char end[] = "end\n";
  size_t length = sizeof end - 1;
  return answer->length >= length && !memcmp(answer->text + answer->length - length, end, length) &&
         (answer->length == length || answer->text[answer->length - length - 1] == '\n');
}

static int receive(struct kymo_client *client, struct kymo_error *error) {
  char bytes[16384];
  while (!is_whole(&client->answer)) {
    ssize_t n = recv(client->fd, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return no_answer(client->pid, error);
    if (n <= 0)
      return kymo_fail(error, KYMO_E_SYSTEM, "process %d has disconnected", client->pid);
    kymo_strbuf_add(&client->answer, bytes, (size_t)n);
    if (client->answer.failed || client->answer.length > ANSWER_MAX)
      return kymo_fail(error, KYMO_E_LIMIT, "the answer of process %d is too long", client->pid);
  }
  return KYMO_OK;
}

/* Removes the first and the last line. */
static int read_answer(struct kymo_client *client, struct kymo_error *error) {
  struct kymo_strbuf *answer = &client->answer;
  char *line_end = strchr(answer->text, '\n');
  if (!strncmp(answer->text, "error ", 6))
    return kymo_fail(error, KYMO_E_USAGE, "%.*s", (int)(line_end - answer->text) - 6, answer->text + 6);
  if (strncmp(answer->text, "ok\n", 3) != 0)
    return kymo_fail(error, KYMO_E_FORMAT,
                     "expected an answer of the control protocol, found another from process %d",
                     client->pid);
  answer->length -= 3 + sizeof "end";
  memmove(answer->text, answer->text + 3, answer->length);
  answer->text[answer->length] = 0;
  return KYMO_OK;
}

int kymo_client_ask(struct kymo_client *client, struct kymo_error *error, const char *format, ...) {
  struct kymo_strbuf request = {0};
  va_list args;
  kymo_strbuf_free(&client->answer);
  kymo_strbuf_puts(&request, "1 ");
  va_start(args, format);
  kymo_strbuf_vprintf(&request, format, args);
  va_end(args);
  bool is_line = request.text && !strchr(request.text, '\n');
  kymo_strbuf_puts(&request, "\n");
  int status = request.failed ? kymo_fail(error, KYMO_E_MEMORY, "out of memory") : KYMO_OK;
  if (!status && !is_line)
    status = kymo_fail(error, KYMO_E_USAGE, "expected a pattern on one line, found a line end in it");
  if (!status)
    status = send_all(client, request.text, request.length, error);
  if (!status)
    status = receive(client, error);
  kymo_strbuf_free(&request);
  return status ? status : read_answer(client, error);
}

char *kymo_client_value(const struct kymo_client *client, const char *key) {
  size_t length = strlen(key);
  for (const char *line = client->answer.text; line && *line;) {
    const char *end = strchrnul(line, '\n');
    if (!strncmp(line, key, length) && line[length] == ' ')
      return strndup(line + length + 1, (size_t)(end - line) - length - 1);
    line = *end ? end + 1 : end;
  }
  return NULL;
}

long long kymo_client_number(const struct kymo_client *client, const char *key, long long otherwise) {
  char *value = kymo_client_value(client, key);
  long long number = value ? strtoll(value, NULL, 10) : otherwise;
  free(value);
  return number;
}

int kymo_client_once(struct kymo_client *client, int pid, const char *request, struct kymo_error *error) {
  int status = kymo_client_open(client, pid, error);
  if (!status)
    status = kymo_client_ask(client, error, "%s", request);
  if (client->fd >= 0)
    close(client->fd);
  client->fd = -1;
  return status;
}

/* ---- all processes ---- */

struct numbers {
  int *number;
  size_t count, room;
};

static void add_number(struct numbers *numbers, int number) {
  if (!KYMO_LIST_ROOM(numbers->number, numbers->room, numbers->count))
    return;
  numbers->number[numbers->count++] = number;
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The listening processes of one network namespace, by their own numbers. */
struct listeners {
  uint64_t network; /* the number of the namespace */
  struct numbers inner;
};

struct everybody {
  struct listeners *listeners; /* of each network namespace so far */
  size_t count, capacity;
  struct numbers pids;
};

static bool note(void *user, const char *path, int inner) {
  (void)path;
  add_number(user, inner);
  return false;
}

/* Of the network namespace of a process; NULL: it cannot be read. */
static const struct numbers *listeners_beside(struct everybody *all, int pid) {
  char path[64];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
  if (stat(path, &st))
    return NULL;
  for (size_t i = 0; i < all->count; i++)
    if (all->listeners[i].network == (uint64_t)st.st_ino)
      return &all->listeners[i].inner;
  if (!KYMO_LIST_ROOM(all->listeners, all->capacity, all->count))
    return NULL;
  struct listeners *added = &all->listeners[all->count++];
  *added = (struct listeners){.network = (uint64_t)st.st_ino};
  snprintf(path, sizeof path, "/proc/%d/net/unix", pid);
  search_net_unix(path, note, &added->inner);
  if (added->inner.count)
    qsort(added->inner.number, added->inner.count, sizeof *added->inner.number, by_number);
  return &added->inner;
}

static bool take_process(void *user, int pid, int inner) {
  struct everybody *all = user;
  const struct numbers *listening = kill(pid, 0) ? NULL : listeners_beside(all, pid);
  if (listening && listening->count &&
      bsearch(&inner, listening->number, listening->count, sizeof inner, by_number))
    add_number(&all->pids, pid);
  return false;
}

void kymo_client_each(kymo_client_visitor *visitor, void *user) {
  struct everybody all = {0};
  char directory[KYMO_CONTROL_PATH_MAX];
  for (int place = 0; place < KYMO_CONTROL_PLACES; place++)
    if (kymo_control_directory(directory, place, false))
      kymo_control_clean(directory, time(NULL));
  kymo_inner_visit(take_process, &all);
  if (all.pids.count)
    qsort(all.pids.number, all.pids.count, sizeof *all.pids.number, by_number);
  for (size_t i = 0; i < all.pids.count; i++)
    visitor(user, all.pids.number[i]);
  for (size_t i = 0; i < all.count; i++)
    free(all.listeners[i].inner.number);
  free(all.listeners);
  free(all.pids.number);
}
