/* SPDX-License-Identifier: MIT */
/* babeltrace2's names of traces and streams. */
#include "print/called.h"
#include "schema/parts.h"
#include <string.h>
#include <unistd.h>

void kymo_called_path(struct kymo_strbuf *buf, const char *path) {
  char here[4096];
  size_t start = buf->length;
  const char *parts[2] = {path[0] != '/' && getcwd(here, sizeof(here)) ? here : "", path};
  for (int i = 0; i < 2; i++) {
    for (const char *at = parts[i]; *at;) {
      size_t length = strcspn(at, "/");
      if (length == 2 && memcmp(at, "..", 2) == 0) {
        while (buf->length > start && buf->text[--buf->length] != '/')
          ;
      } else if (length > 0 && !(length == 1 && *at == '.')) {
        kymo_strbuf_puts(buf, "/");
        kymo_strbuf_add(buf, at, length);
      }
      at += length;
      at += *at == '/';
    }
  }
}

/* The rest of the trace's path after the user's path; "" if it is the trace itself. */
static void add_path_below(struct kymo_strbuf *buf, const struct kymo_sink_options *options,
                           const char *path) {
  struct kymo_strbuf whole = {0}, root = {0};
  kymo_called_path(&whole, path);
  for (size_t i = 0; i < options->path_count && !whole.failed; i++) {
    root.length = 0;
    kymo_called_path(&root, options->paths[i]);
    if (root.length == 0 || root.length >= whole.length || whole.text[root.length] != '/' ||
        memcmp(whole.text, root.text, root.length) != 0)
      continue;
    if (buf->length > 0)
      kymo_strbuf_puts(buf, "/");
    kymo_strbuf_puts(buf, whole.text + root.length + 1);
    break;
  }
  buf->failed |= whole.failed || root.failed;
  kymo_strbuf_free(&whole);
  kymo_strbuf_free(&root);
}

void kymo_called_trace(struct kymo_strbuf *buf, const struct kymo_sink_options *options,
                       const struct kymo_part *part) {
  const struct kymo_environment *host = kymo_schema_environment(part->schema, "hostname");
  struct kymo_strbuf name = {0};
  if (host && host->text)
    kymo_strbuf_puts(&name, host->text);
  if (part->path_count == 1)
    add_path_below(&name, options, part->path);
  if (name.length > 0)
    kymo_strbuf_add(buf, name.text, name.length);
  buf->failed |= name.failed;
  kymo_strbuf_free(&name);
}

/* Whether packets contain their begin times. */
static bool has_begin(const struct kymo_stream_class *class_) {
  const struct kymo_type *context = class_ ? class_->packet_context : NULL;
  for (uint32_t i = 0; context && i < context->member_count; i++)
    if (context->members[i].type->roles & KYMO_ROLE_TIMESTAMP)
      return true;
  return false;
}

bool kymo_called_by_instance(const struct kymo_stream *stream) {
  return stream->instance != UINT64_MAX && has_begin(stream->class_);
}

uint64_t kymo_called_stream(const struct kymo_trace *trace, const struct kymo_stream *stream) {
  uint64_t id = 0;
  if (kymo_called_by_instance(stream))
    return stream->instance;
  for (uint32_t i = 0; i < stream->index; i++)
    id += kymo_part_stream(trace, stream->part, i)->class_ == stream->class_;
  return id;
}
