/* SPDX-License-Identifier: MIT */
/*
 * A link in /proc/PID/fd names the object of a descriptor, and its permissions say whether it is open for
 * reading or writing. Sockets are looked up by their numbers in the lists of the process's network namespace.
 */
#include "process/descriptor.h"
#include "process/proc.h"
#include "base/list.h"
#include "base/strbuf.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { LINK_MAX = 512 };

static bool read_link(int pid, int tid, int number, char out[LINK_MAX]) {
  char path[PROC_PATH_MAX];
  snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%d", pid, tid, number);
  ssize_t length = readlink(path, out, LINK_MAX - 1);
  out[length > 0 ? length : 0] = 0;
  return length > 0;
}

/* ---- sockets ---- */

struct socket_list {
  const char *file, *title;
  int family; /* AF_UNIX has lines of another form */
};
static const struct socket_list socket_lists[] = {
    {"tcp", "TCP", AF_INET}, {"tcp6", "TCP", AF_INET6}, {"unix", "Unix socket", AF_UNIX},
    {"udp", "UDP", AF_INET}, {"udp6", "UDP", AF_INET6},
};

static const char *const tcp_states[] = {"",           "established", "connecting", "SYN_RECV",
                                         "FIN_WAIT1",  "FIN_WAIT2",   "TIME_WAIT",  "closed",
                                         "CLOSE_WAIT", "LAST_ACK",    "listening",  "CLOSING"};

/* "0100007F:1F90" is 127.0.0.1:8080: words of the machine's byte order in hexadecimal. */
static void add_address(struct kymo_strbuf *out, const char *text, int family) {
  uint32_t words[4] = {0};
  char shown[INET6_ADDRSTRLEN] = "?", digits[9] = "";
  size_t count = family == AF_INET ? 1 : 4;
  const char *port = strchr(text, ':');
  for (size_t i = 0; i < count && strlen(text) > 8 * count; i++) {
    memcpy(digits, text + 8 * i, 8);
    words[i] = (uint32_t)strtoul(digits, NULL, 16);
  }
  inet_ntop(family, words, shown, sizeof shown);
  kymo_strbuf_printf(out, family == AF_INET ? "%s:%lu" : "[%s]:%lu", shown,
                     port ? strtoul(port + 1, NULL, 16) : 0);
}

/* "sl: LOCAL REMOTE STATE QUEUES TIMER RETRIES UID TIMEOUT INODE" */
static bool add_inet(struct kymo_strbuf *out, const struct socket_list *list, const char *line,
                     unsigned long inode) {
  char local[64], remote[64];
  unsigned state;
  unsigned long number;
  if (sscanf(line, " %*d: %63s %63s %x %*s %*s %*s %*u %*u %lu", local, remote, &state, &number) != 4 ||
      number != inode)
    return false;
  kymo_strbuf_printf(out, " <%s ", list->title);
  add_address(out, local, list->family);
  if (strtoul(strchr(remote, ':') ? strchr(remote, ':') + 1 : "", NULL, 16)) {
    kymo_strbuf_puts(out, " to ");
    add_address(out, remote, list->family);
  }
  if (list->file[0] == 't')
    kymo_strbuf_printf(out, ", %s", state < sizeof tcp_states / sizeof *tcp_states ? tcp_states[state] : "?");
  kymo_strbuf_puts(out, ">");
  return true;
}

/* "NUMBER: REFERENCES PROTOCOL FLAGS TYPE STATE INODE PATH" */
static bool add_unix(struct kymo_strbuf *out, const char *line, unsigned long inode) {
  unsigned long number;
  int path = 0;
  if (sscanf(line, "%*s %*s %*s %*s %*s %*s %lu %n", &number, &path) != 1 || number != inode)
    return false;
  const char *name = path ? line + path : "";
  kymo_strbuf_printf(out, " <Unix socket:[%lu]%s%.*s>", inode, *name ? " " : "", (int)strcspn(name, "\n"),
                     name);
  return true;
}

static bool add_socket_of(struct kymo_strbuf *out, const struct process *process,
                          const struct socket_list *list, unsigned long inode) {
  char path[PROC_PATH_MAX], line[512];
  bool is_found = false;
  snprintf(path, sizeof path, "/proc/%d/net/%s", process->pid, list->file);
  FILE *file = fopen(path, "re");
  while (file && !is_found && fgets(line, sizeof line, file))
    is_found = list->family == AF_UNIX ? add_unix(out, line, inode) : add_inet(out, list, line, inode);
  if (file)
    fclose(file);
  return is_found;
}

static bool add_socket(struct kymo_strbuf *out, const struct process *process, unsigned long inode) {
  for (size_t i = 0; i < sizeof socket_lists / sizeof *socket_lists; i++)
    if (add_socket_of(out, process, &socket_lists[i], inode))
      return true;
  return false;
}

const char *process_descriptor_text(struct process *process, const struct process_descriptor *descriptor) {
  char link[LINK_MAX];
  struct kymo_strbuf text = {0};
  if (descriptor->number < 0 || process->core ||
      !read_link(process->pid, descriptor->tid, descriptor->number, link))
    return "";
  bool is_socket = strncmp(link, "socket:[", 8) == 0;
  if (!is_socket || !add_socket(&text, process, strtoul(link + 8, NULL, 10)))
    kymo_strbuf_printf(&text, " <%s>", link);
  const char *shown = text.failed ? "" : process_board_text(process->board, "%s", text.text);
  kymo_strbuf_free(&text);
  return shown;
}

/* Asks a copy of the descriptor. Without an answer, a timeout is possible. */
bool process_socket_has_timeout(struct process *process, const struct process_descriptor *descriptor) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  char link[LINK_MAX], first[LINK_MAX];
  struct timeval limits[2] = {{1, 0}, {1, 0}};
  socklen_t size = sizeof *limits;
  if (!read_link(process->pid, descriptor->tid, descriptor->number, link))
    return true;
  if (strncmp(link, "socket:[", 8) != 0)
    return false;
  if (!read_link(process->pid, process->pid, descriptor->number, first) || strcmp(link, first) != 0)
    return true;
  int handle = (int)syscall(SYS_pidfd_open, process->pid, 0);
  int copy = handle >= 0 ? (int)syscall(SYS_pidfd_getfd, handle, descriptor->number, 0) : -1;
  if (copy >= 0) {
    getsockopt(copy, SOL_SOCKET, SO_RCVTIMEO, &limits[0], &size);
    size = sizeof *limits;
    getsockopt(copy, SOL_SOCKET, SO_SNDTIMEO, &limits[1], &size);
    close(copy);
  }
  if (handle >= 0)
    close(handle);
  return limits[0].tv_sec || limits[0].tv_usec || limits[1].tv_sec || limits[1].tv_usec;
#else
  (void)process, (void)descriptor;
  return true;
#endif
}

/* ---- pipes ---- */

enum { PEERS_MAX = 4 };
/* For all pipes of a process together. */
static const long long SEARCH_NS = 1500000000;

struct peers {
  const char *link;
  bool for_writing;
  struct kymo_strbuf text;
  unsigned count;
  bool is_partial; /* not all processes could be looked at */
};

/* Whether the process has the pipe open that way. */
static bool has_end(struct peers *peers, int pid) {
  char path[PROC_PATH_MAX], link[LINK_MAX];
  struct stat st;
  bool is = false;
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *dir = opendir(path);
  if (!dir) {
    peers->is_partial |= errno == EACCES || errno == EPERM;
    return false;
  }
  for (struct dirent *entry; !is && (entry = readdir(dir));) {
    int number = isdigit((unsigned char)entry->d_name[0]) ? (int)strtol(entry->d_name, NULL, 10) : -1;
    is = number >= 0 && read_link(pid, pid, number, link) && strcmp(link, peers->link) == 0 &&
         !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
         st.st_mode & (peers->for_writing ? S_IWUSR : S_IRUSR);
  }
  closedir(dir);
  return is;
}

static void add_peer(struct peers *peers, const struct process *process, int pid) {
  char name[PROCESS_NAME_MAX];
  if (++peers->count > PEERS_MAX)
    return;
  proc_name(name, pid);
  if (pid == process->pid)
    kymo_strbuf_printf(&peers->text, "%sthis process itself", peers->count > 1 ? ", " : "");
  else
    kymo_strbuf_printf(&peers->text, "%sprocess %d (%s)", peers->count > 1 ? ", " : "", pid, name);
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The numbers of all processes; the caller frees the list. */
static int *list_processes(size_t *count) {
  int *list = NULL;
  size_t room = 0;
  *count = 0;
  DIR *dir = opendir("/proc");
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    int pid = isdigit((unsigned char)entry->d_name[0]) ? (int)strtol(entry->d_name, NULL, 10) : 0;
    if (pid > 0 && KYMO_LIST_ROOM(list, room, *count))
      list[(*count)++] = pid;
  }
  if (dir)
    closedir(dir);
  if (*count)
    qsort(list, *count, sizeof *list, by_number);
  return list;
}

/* From the process on, to both sides: its relatives are near. */
static void search_peers(struct process *process, struct peers *peers) {
  size_t count, above = 0;
  int *list = list_processes(&count);
  if (!process->search_end_ns)
    process->search_end_ns = process_now_ns() + SEARCH_NS;
  while (above < count && list[above] < process->pid)
    above++;
  for (size_t below = above; below > 0 || above < count;) {
    if (process_now_ns() > process->search_end_ns) {
      peers->is_partial = true;
      break;
    }
    if (above < count && has_end(peers, list[above]))
      add_peer(peers, process, list[above]);
    above += above < count;
    if (below > 0 && has_end(peers, list[--below]))
      add_peer(peers, process, list[below]);
  }
  free(list);
}

/* What was found for another thread that waits for the same pipe, or NULL. */
static const char *known_peers(const struct process *process, const struct peers *peers) {
  for (const struct process_pipe *pipe = process->pipes; pipe; pipe = pipe->next)
    if (pipe->for_writing == peers->for_writing && strcmp(pipe->link, peers->link) == 0)
      return pipe->peers;
  return NULL;
}

const char *process_pipe_peers(struct process *process, const struct process_descriptor *descriptor,
                               bool for_writing) {
  char link[LINK_MAX];
  if (!read_link(process->pid, descriptor->tid, descriptor->number, link) || strncmp(link, "pipe:[", 6) != 0)
    return NULL;
  struct peers peers = {.link = link, .for_writing = for_writing};
  const char *text = known_peers(process, &peers);
  if (text)
    return text;
  search_peers(process, &peers);
  text = process_board_text(process->board, "whose other end is open in %s%s%s",
                            peers.count ? peers.text.text : "no process",
                            peers.count > PEERS_MAX ? " and others" : "",
                            peers.is_partial ? " (not all processes could be looked at)" : "");
  kymo_strbuf_free(&peers.text);
  struct process_pipe *pipe = process_board_take(process->board, sizeof *pipe);
  if (pipe) {
    *pipe = (struct process_pipe){process->pipes, process_board_text(process->board, "%s", link), text,
                                  for_writing};
    process->pipes = pipe;
  }
  return text;
}

/* ---- children ---- */

const char *process_children(struct process *process, int tid) {
  char list[512], name[PROCESS_NAME_MAX], *rest = list;
  struct kymo_strbuf text = {0};
  unsigned count = 0;
  if (proc_read(list, sizeof list, "/proc/%d/task/%d/children", process->pid, tid) <= 0)
    return NULL;
  for (char *word; (word = strsep(&rest, " \n"));) {
    int pid = (int)strtol(word, NULL, 10);
    if (pid <= 0 || ++count > PEERS_MAX)
      continue;
    proc_name(name, pid);
    kymo_strbuf_printf(&text, "%s process %d (%s)", count > 1 ? "," : "", pid, name);
  }
  const char *children =
      count ? process_board_text(process->board, "whose %s%s%s", count > 1 ? "children are" : "child is",
                                 text.text ? text.text : "", count > PEERS_MAX ? " and others" : "")
            : NULL;
  kymo_strbuf_free(&text);
  return children;
}
