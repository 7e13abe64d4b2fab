/* SPDX-License-Identifier: MIT */
/* The page about a process that hangs. */
#ifndef KYMO_PROCESS_PAGE_H
#define KYMO_PROCESS_PAGE_H

#include "base/strbuf.h"
#include "print/json_writer.h"
#include "process/findings.h"

/* As text for people. */
void process_page(struct kymo_strbuf *out, struct process *process, const struct process_findings *findings);
/* The same as one line of JSON. */
void process_page_json(struct kymo_json *json, struct process *process,
                       const struct process_findings *findings);

#endif
