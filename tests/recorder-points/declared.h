/* SPDX-License-Identifier: MIT */
/* Tracepoints that a program, its second source file, a library in C++ and a plug-in share. */
#ifndef DECLARED_H
#define DECLARED_H

#include <kymo/trace.h>

KYMO_EVENT(shared, event, KYMO_ARGS(const char *who, int number), KYMO_LEVEL(notice),
           KYMO_ABOUT("told by \"who\":\tall"), who, KYMO_HEX(number, number));
KYMO_EVENT(shared, nothing, KYMO_ARGS());
KYMO_EVENT_FP(shared, fast, KYMO_ARGS(int number), number);
KYMO_EVENT(shared, never_called, KYMO_ARGS(int number), number);

#ifdef __cplusplus
extern "C" {
#endif
void from_second_file(void);
void from_library(void);
#ifdef __cplusplus
}
#endif

#endif
