/* SPDX-License-Identifier: MIT */
/*
 * The pages of kymo explain, for people who write a description.
 *
 *   --html OUT      the workbench: one file with the bytes, the fields as a tree, and the description beside
 *                   them, each of which finds the others
 *   --format html   the bytes and fields of one record, for a document
 *
 * All texts of traces and descriptions are escaped here; the script of the page only moves classes.
 */
#ifndef KYMO_TOOL_WORKBENCH_H
#define KYMO_TOOL_WORKBENCH_H

#include "format/described/look.h"
#include "lang/tdl/origin.h"
#include <stdio.h>

/* At most this is shown of each record, of all problems, and of the description. */
enum {
  WORKBENCH_BYTES_MAX = 1024,
  WORKBENCH_FIELDS_MAX = 500,
  WORKBENCH_PROBLEMS_MAX = 200,
  WORKBENCH_LINES_MAX = 20000,
  WORKBENCH_PAGE_MAX = 32 << 20, /* no record is added to more bytes of records */
};

/* What the page has of one line of the description. */
struct workbench_line {
  uint32_t begin, end; /* bytes of the text, without its end of line */
  uint32_t fields;     /* that come from it */
  bool is_faulty;
};

struct workbench {
  struct kymo_look *look;
  bool is_picture; /* of one record: nothing can be clicked */
  struct kymo_tdl_origins origins;
  char why[128]; /* the reason why lines are not known; "": they are */
  const char *source;
  struct workbench_line *lines;
  uint32_t line_count;
  uint32_t ids;     /* of fields and problems: each has one, as its mark in all parts of the page */
  uint32_t records; /* shown, with places where none can be read */
  uint64_t covered; /* bytes of the file before it are shown or skipped */
  uint64_t problem_count;
  struct kymo_strbuf hex, tree, problems;
};

/* ---- workbench_record.c ---- */

/* The line, from 1, that a part of the plan comes from; 0: unknown. */
uint32_t workbench_line_of(const struct workbench *bench, enum kymo_plan_section section, uint32_t index);
/* Adds a text so that a page shows it and obeys nothing in it. */
void workbench_add_text(struct kymo_strbuf *out, const char *text, size_t size);
/* The record that the look has read, with the bytes before it that belong to none. */
void workbench_add_record(struct workbench *bench);
/* The place where no record could be read, which the look has notes of. */
void workbench_add_failure(struct workbench *bench);
/* Either of them, without showing it. */
void workbench_pass(struct workbench *bench, bool is_record);
/* Whether the page has space for another record. */
bool workbench_has_space(const struct workbench *bench);
/* Bytes of the file that belong to no record, from bench->covered on. */
void workbench_add_gap(struct workbench *bench, uint64_t to);

/* ---- workbench.c ---- */

void workbench_begin(struct workbench *bench, struct kymo_look *look);
void workbench_end(struct workbench *bench);

/* What a page is of. */
struct workbench_page {
  const struct workbench *bench;
  const char *path, *trace;
  bool is_cut;  /* there are more records */
  bool is_late; /* it begins after the first record */
};
/* Writes the page; `page`: a struct workbench_page. For tool_page_file. */
int workbench_put(FILE *file, const void *page);
/* Prints the fragment of one record. */
void workbench_print(const struct workbench *bench);

/* workbench_page.c, which workbench/embed.py makes */
extern const char workbench_style[], workbench_script[];
extern const char workbench_style_hash[], workbench_script_hash[]; /* for a Content-Security-Policy */

#endif
