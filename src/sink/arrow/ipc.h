/* SPDX-License-Identifier: MIT */
/*
 * The interprocess format of Arrow, as a stream or as a file. A message is a flatbuffer (flat.h) and the
 * bytes of the columns; everything is a multiple of 8 bytes:
 *
 *   stream   schema │ dictionaries │ batch │ dictionaries that have grown │ batch │ … │ end
 *   file     ARROW1 │ the same │ footer: schema, places of dictionaries, batches │ its size │ ARROW1
 */
#ifndef KYMO_SINK_ARROW_IPC_H
#define KYMO_SINK_ARROW_IPC_H

#include "sink/arrow/column.h"
#include "sink/arrow/compress.h"
#include <stdio.h>

struct kymo_arrow_block {
  uint64_t offset, head_bytes, body_bytes; /* as in the footer, on machines of either byte order */
};

struct kymo_arrow_ipc {
  struct kymo_arrow_column *table; /* a struct, whose columns are those of the file */
  bool is_stream;
  enum kymo_arrow_codec codec;
  /* state */
  FILE *file; /* set before each call */
  const char *path;
  uint64_t offset;
  bool has_batch;
  struct kymo_strbuf flat, body;
  struct kymo_arrow_block *dictionaries, *batches;
  size_t dictionary_count, dictionary_capacity, batch_count, batch_capacity;
};

/* Writes the begin; the rows of the table, which it drops; and the end. */
int kymo_arrow_ipc_begin(struct kymo_arrow_ipc *ipc, struct kymo_error *error);
int kymo_arrow_ipc_batch(struct kymo_arrow_ipc *ipc, struct kymo_error *error);
int kymo_arrow_ipc_end(struct kymo_arrow_ipc *ipc, struct kymo_error *error);
void kymo_arrow_ipc_free(struct kymo_arrow_ipc *ipc);

#endif
