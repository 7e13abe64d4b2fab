/* SPDX-License-Identifier: MIT */
/* What the packet headers of a stream tell: an extra cursor goes from header to header. */
#include "base/fail.h"
#include "read/load.h"
#include "read/trace.h"
#include <stdlib.h>
#include <string.h>

/* A pass over the packets of one stream. */
struct pass {
  const struct stream_state *stream;
  struct kymo_stream_info *info;
  struct kymo_notes notes;
  struct kymo_ns ns;
  uint64_t clock;
  bool has_previous;
  struct kymo_packet previous;
  uint64_t counters[KYMO_LOSS_CAUSES]; /* there */
};

static void widen(struct pass *pass, uint64_t cycles) {
  struct kymo_stream_info *info = pass->info;
  if (!pass->ns.clock)
    return;
  int64_t time_ns = kymo_ns_of(&pass->ns, cycles);
  if (!info->has_times || time_ns < info->begin_ns)
    info->begin_ns = time_ns;
  if (!info->has_times || time_ns > info->end_ns)
    info->end_ns = time_ns;
  info->has_times = true;
}

/* The counters discarded_CAUSE, which only grow. What they show in the first packet was lost before
 * it, for all we know, unless nothing at all was lost up to there. */
static void count_causes(struct pass *pass, const struct kymo_packet_head *head) {
  const struct kymo_node *root = head->plan->packet_context, *part = root ? kymo_node_first(root) : NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; root && i < root->type->member_count && count < KYMO_LOSS_CAUSES; i++, part += part->span) {
    const struct kymo_type *type = part->type;
    const char *name = root->type->members[i].name;
    if (strncmp(name, "discarded_", 10) != 0 || type->kind != KYMO_KIND_INTEGER || type->bits_reversed ||
        part->segment == KYMO_SEGMENT_NONE)
      continue;
    uint64_t at = pass->notes.segments[part->segment] + part->offset_bits;
    uint64_t value = kymo_fast_bits(head->packet.data, at, type->size_bits, type->order == KYMO_ORDER_BIG);
    struct kymo_loss_cause *cause = &pass->info->causes[count];
    if (pass->has_previous || (head->packet.has_discarded && head->packet.discarded == 0))
      cause->count += (value - pass->counters[count]) & (UINT64_MAX >> (64 - type->size_bits));
    cause->name = name + 10;
    pass->counters[count++] = value;
  }
  pass->info->cause_count = count;
}

static void count_packet(struct pass *pass, const struct kymo_packet_head *head, uint64_t bytes) {
  struct kymo_loss losses[2];
  unsigned count = kymo_packet_losses(pass->has_previous ? &pass->previous : NULL, head, losses);
  for (unsigned i = 0; i < count; i++) {
    if (losses[i].is_packets)
      pass->info->lost_packets += losses[i].count;
    else
      pass->info->discarded_events += losses[i].count;
  }
  count_causes(pass, head);
  pass->info->packets++;
  pass->info->bytes += bytes;
  if (!pass->ns.clock && head->plan->class_->clock)
    kymo_ns_begin(&pass->ns, head->plan->class_->clock, pass->stream->trace->options.clock_offset_ns,
                  pass->stream->trace->options.as_babeltrace2);
  if (head->packet.has_begin)
    widen(pass, head->packet.begin_cycles);
  if (head->packet.has_end)
    widen(pass, head->packet.end_cycles);
  pass->clock = head->packet.has_end ? head->packet.end_cycles : head->clock;
  pass->previous = head->packet;
  pass->has_previous = true;
}

static void pass_packets(struct pass *pass, struct kymo_cursor *cursor) {
  const struct stream_state *stream = pass->stream;
  const struct kymo_schema_plan *plan = stream->part->plan;
  const struct kymo_stream_class *class_ = stream->stream.class_;
  for (;;) {
    struct kymo_chunk chunk;
    int status = stream->operations->next(cursor, &chunk, NULL);
    if (status < 0)
      continue; /* told when it is read */
    if (status != KYMO_OK)
      return;
    struct kymo_packet_head head;
    uint64_t bytes;
    if (kymo_packet_read(plan, &chunk, class_, pass->clock, &pass->notes, &head, NULL) == KYMO_OK) {
      class_ = head.plan->class_;
      kymo_packet_mend(stream->part, &head);
      bytes = head.is_cut ? chunk.size_bytes : head.packet.size_bits / 8;
      bool is_repeated = stream->may_repeat && pass->has_previous && head.packet.sequence != UINT64_MAX &&
                         head.packet.sequence <= pass->previous.sequence;
      if (!is_repeated)
        count_packet(pass, &head, bytes);
    } else {
      bytes = head.packet.size_bits ? head.packet.size_bits / 8 : kymo_packet_search(plan, &chunk, 1);
    }
    stream->operations->skip(cursor, bytes < chunk.size_bytes ? bytes : chunk.size_bytes);
  }
}

int kymo_stream_describe(struct kymo_trace *trace, const struct kymo_stream *stream, struct kymo_stream_info *info,
                         struct kymo_error *error) {
  (void)trace;
  const struct stream_state *state = (const struct stream_state *)stream;
  const struct kymo_schema_plan *plan = state->part->plan;
  *info = (struct kymo_stream_info){0};
  if (!state->operations->next)
    return KYMO_OK; /* not made of packets */
  uint64_t *notes = calloc((size_t)plan->segment_count + plan->slot_count + 1, sizeof *notes);
  struct pass pass = {.stream = state, .info = info, .notes = {notes, notes + plan->segment_count}};
  struct kymo_cursor *cursor = NULL;
  if (!notes)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = state->operations->begin(&cursor, state->source, error);
  if (status == KYMO_OK) {
    pass_packets(&pass, cursor);
    state->operations->end(cursor);
  }
  free(notes);
  return status;
}
