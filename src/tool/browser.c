/* SPDX-License-Identifier: MIT */
#include "tool/browser.h"
#include "tool/tool.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

/* A page that goes to the address, for this user alone. */
static bool write_file(struct tool_browser *browser, const char *address) {
  const char *folder = is_set("XDG_RUNTIME_DIR") ? getenv("XDG_RUNTIME_DIR")
                       : is_set("TMPDIR")        ? getenv("TMPDIR")
                                                 : "/tmp";
  int length = snprintf(browser->path, sizeof browser->path, "%s/kymo-view-XXXXXX.html", folder);
  int fd = length < (int)sizeof browser->path ? mkostemps(browser->path, 5, O_CLOEXEC) : -1;
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (!file) {
    if (fd >= 0) {
      close(fd);
      unlink(browser->path);
    }
    browser->path[0] = 0;
    return false;
  }
  fprintf(file,
          "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">"
          "<title>kymo view</title>\n",
          address);
  return fclose(file) == 0;
}

/* Commands separated by colons, as in BROWSER elsewhere: runs the first that exists, with its arguments. */
#define RUN_FIRST                                                              \
  "set -f; page=$1; IFS=:; for browser in $2; do unset IFS; set -- $browser; " \
  "command -v \"$1\" >/dev/null && exec \"$@\" \"$page\"; done"

/* In a session of its own, so that Ctrl-C is not for it; it is no child of ours that would have to be
 * waited for. */
static void start(const char *commands, const char *path) {
  pid_t child = fork();
  if (child < 0)
    return;
  if (child > 0) {
    waitpid(child, NULL, 0);
    return;
  }
  setsid();
  if (fork() == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
      dup2(null, fd);
    if (null > 2)
      close(null);
    execl("/bin/sh", "sh", "-c", RUN_FIRST, "sh", path, commands, (char *)NULL);
  }
  _exit(0);
}

void tool_browser_open(struct tool_browser *browser, const char *address, unsigned port, bool is_wanted) {
  char host[256] = "HOST";
  bool is_far = is_set("SSH_CONNECTION"), has_screen = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
  browser->path[0] = 0;
  if (is_far) {
    gethostname(host, sizeof host - 1);
    tool_say("over SSH, first type on your machine: ssh -N -L %u:127.0.0.1:%u %s", port, port, host);
  }
  if (!is_wanted || is_far || !has_screen)
    return;
  if (write_file(browser, address))
    start(is_set("BROWSER") ? getenv("BROWSER") : "xdg-open", browser->path);
}

void tool_browser_close(struct tool_browser *browser) {
  if (browser->path[0])
    unlink(browser->path);
}
