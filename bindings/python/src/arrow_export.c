/* SPDX-License-Identifier: MIT */
/* Columns as the structs of Arrow's C data interface. Each struct owns what it refers to, and frees it
 * when the consumer releases it, in any thread. */
#include "arrow.h"
#include <errno.h>
#include <string.h>

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i] && schema->children[i]->release)
      schema->children[i]->release(schema->children[i]);
    free(schema->children[i]);
  }
  if (schema->dictionary && schema->dictionary->release)
    schema->dictionary->release(schema->dictionary);
  free(schema->dictionary);
  free(schema->children);
  free((char *)schema->format);
  free((char *)schema->name);
  schema->release = NULL;
}

static int new_schema(struct ArrowSchema *out, const char *format, const char *name, size_t children) {
  *out = (struct ArrowSchema){.flags = ARROW_FLAG_NULLABLE, .release = release_schema};
  out->format = strdup(format);
  out->name = strdup(name);
  out->children = calloc(children + 1, sizeof(struct ArrowSchema *));
  if (out->format && out->name && out->children)
    return 0;
  release_schema(out);
  return ENOMEM;
}

static int export_dictionary(struct ArrowSchema *out) {
  out->dictionary = calloc(1, sizeof *out->dictionary);
  return out->dictionary ? new_schema(out->dictionary, "u", "", 0) : ENOMEM;
}

int column_export_schema(const struct column *column, struct ArrowSchema *out) {
  int status = new_schema(out, column->format, column->name, column->child_count);
  if (status)
    return status;
  for (size_t i = 0; i < column->child_count && status == 0; i++) {
    out->children[i] = calloc(1, sizeof(struct ArrowSchema));
    out->n_children++;
    status = out->children[i] ? column_export_schema(column->children[i], out->children[i]) : ENOMEM;
  }
  if (status == 0 && column->kind == COLUMN_LABEL)
    status = export_dictionary(out);
  if (status)
    release_schema(out);
  return status;
}

/* ---- arrays ---- */

static void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i] && array->children[i]->release)
      array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  if (array->dictionary && array->dictionary->release)
    array->dictionary->release(array->dictionary);
  free(array->dictionary);
  free(array->children);
  for (int64_t i = 0; array->buffers && i < array->n_buffers; i++)
    free((void *)array->buffers[i]);
  free(array->buffers);
  array->release = NULL;
}

static int new_array(struct ArrowArray *out, size_t buffers, size_t children) {
  *out = (struct ArrowArray){.n_buffers = (int64_t)buffers, .release = release_array};
  out->buffers = calloc(buffers, sizeof(void *));
  out->children = calloc(children + 1, sizeof(struct ArrowArray *));
  if (out->buffers && out->children)
    return 0;
  release_array(out);
  return ENOMEM;
}

/* Moves a buffer; one that was never filled is allocated, since consumers may refuse NULL. False: out of
 * memory. */
static bool take(const void **out, struct buffer *buffer, size_t least) {
  if (!buffer->bytes && !(buffer->bytes = calloc(1, least)))
    return false;
  *out = buffer->bytes;
  *buffer = (struct buffer){0};
  return true;
}

static bool has_offsets(const struct column *column) {
  return column->kind == COLUMN_TEXT || column->kind == COLUMN_BYTES || column->kind == COLUMN_FLAGS ||
         column->kind == COLUMN_LIST;
}

static bool has_data(const struct column *column) {
  return column->child_count == 0 && column->kind < COLUMN_LIST;
}

static int take_buffers(struct column *column, struct ArrowArray *out) {
  size_t at = 1;
  if (column->null_count == 0) { /* no bitmap means that all are there */
    free(column->validity.bytes);
    column->validity = (struct buffer){0};
  } else if (!take(&out->buffers[0], &column->validity, 1)) {
    return ENOMEM;
  }
  if (has_offsets(column) && !take(&out->buffers[at++], &column->offsets, sizeof(int32_t)))
    return ENOMEM;
  if (has_data(column) && !take(&out->buffers[at], &column->data, 8))
    return ENOMEM;
  out->length = column->length;
  out->null_count = column->null_count;
  column->length = column->null_count = 0;
  return 0;
}

/* The names of labels, as an array of texts. */
static int export_names(const struct column *column, struct ArrowArray *out) {
  struct column *names = column_new(COLUMN_TEXT, "", "u", 0);
  bool ok = names != NULL;
  for (size_t i = 0; i < column->name_count && ok; i++)
    ok = column_add_text(names, column->names[i], strlen(column->names[i]), KYMO_ENCODING_UTF8);
  int status = ok ? column_export(names, out) : ENOMEM;
  column_free(names);
  return status;
}

int column_export(struct column *column, struct ArrowArray *out) {
  int status = new_array(out, 1 + has_offsets(column) + has_data(column), column->child_count);
  if (status)
    return status;
  status = take_buffers(column, out);
  for (size_t i = 0; i < column->child_count && status == 0; i++) {
    out->children[i] = calloc(1, sizeof(struct ArrowArray));
    out->n_children++;
    status = out->children[i] ? column_export(column->children[i], out->children[i]) : ENOMEM;
  }
  if (status == 0 && column->kind == COLUMN_LABEL) {
    out->dictionary = calloc(1, sizeof *out->dictionary);
    status = out->dictionary ? export_names(column, out->dictionary) : ENOMEM;
  }
  if (status)
    release_array(out);
  return status;
}
