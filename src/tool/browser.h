/* SPDX-License-Identifier: MIT */
/* Shows an address of this machine to the user: in a browser, or by words. */
#ifndef KYMO_TOOL_BROWSER_H
#define KYMO_TOOL_BROWSER_H

#include <stdbool.h>

/* The file by which a browser gets the address: other users of the machine see the arguments of processes,
 * but the address has a secret. */
struct tool_browser {
  char path[256]; /* "": there is none */
};

/* Where there is a screen, and if it is wanted, starts $BROWSER or xdg-open. Over SSH it prints the command
 * that makes the port reachable for the browser of the user's machine. */
void tool_browser_open(struct tool_browser *browser, const char *address, unsigned port, bool is_wanted);
/* Removes the file. */
void tool_browser_close(struct tool_browser *browser);

#endif
