/* SPDX-License-Identifier: MIT */
/* The slow step: any event by its programs, and the message of a decode error. */
#include "base/search.h"
#include "decode/step.h"

static bool run_header(struct kymo_decoder *decoder, struct kymo_meaning *meaning) {
  *meaning = (struct kymo_meaning){.clock = decoder->clock};
  decoder->run.meaning = meaning;
  bool fits = kymo_program_run(&decoder->plan->header_program, &decoder->run);
  decoder->run.meaning = NULL;
  return fits;
}

static enum kymo_step fail_step(struct kymo_decoder *decoder, enum kymo_decode_error what, uint64_t number) {
  decoder->run.error = what;
  decoder->run.node = NULL;
  decoder->run.number = number;
  return KYMO_STEP_ERROR;
}

static void begin_run(struct kymo_decoder *decoder, uint64_t at) {
  decoder->run = (struct kymo_run){.data = decoder->packet.data,
                                   .at = at,
                                   .end = decoder->packet.content_bits,
                                   .segments = decoder->segments,
                                   .slots = decoder->slots,
                                   .budget = decoder->budget};
}

enum kymo_step kymo_step_slow(struct kymo_decoder *decoder, struct kymo_found *found) {
  const struct kymo_stream_plan *plan = decoder->plan;
  struct kymo_run *run = &decoder->run;
  struct kymo_meaning meaning;
  if (decoder->next_bits >= decoder->packet.content_bits)
    return KYMO_STEP_END;
  begin_run(decoder, decoder->next_bits);
  if (!run_header(decoder, &meaning))
    return KYMO_STEP_ERROR;
  uint64_t body_bits = run->at, id = meaning.values[__builtin_ctz(KYMO_ROLE_EVENT_CLASS_ID)];
  const struct kymo_event_plan *body =
      meaning.present & KYMO_ROLE_EVENT_CLASS_ID ? kymo_stream_plan_event(plan, id) : plan->only;
  if (!body)
    return fail_step(decoder, KYMO_DECODE_ERROR_ID, id);
  if (!kymo_program_run(&body->program, run))
    return KYMO_STEP_ERROR;
  if (run->at == decoder->next_bits)
    return fail_step(decoder, KYMO_DECODE_ERROR_NOTHING, 0);
  uint64_t begin = kymo_round_up(decoder->next_bits, plan->header_align);
  if (body_bits - begin > UINT32_MAX)
    return fail_step(decoder, KYMO_DECODE_ERROR_HEADER, body_bits - begin);
  *found = (struct kymo_found){.cycles = meaning.clock,
                               .offset_bits = begin,
                               .header_bits = (uint32_t)(body_bits - begin),
                               .index = body->class_->index & KYMO_FOUND_INDEX,
                               .has_time = decoder->ns.clock != NULL};
  decoder->next_bits = run->at;
  decoder->budget = run->budget;
  decoder->clock = meaning.clock;
  return KYMO_STEP_EVENT;
}

/* It was valid when it was found, so it is now. */
void kymo_decoder_locate(struct kymo_decoder *decoder, const struct kymo_event *event) {
  const struct kymo_event_plan *plan = event->plan;
  struct kymo_meaning meaning;
  decoder->located = event->number;
  decoder->segments[plan->program.first_segment] = kymo_body_bits(event);
  if (plan->is_constant && decoder->plan->has_fast_header)
    return;
  begin_run(decoder, event->offset_bits);
  decoder->run.budget = UINT64_MAX; /* it was charged when it was found */
  if (decoder->plan->has_fast_header || decoder->is_raw)
    decoder->run.at = kymo_body_bits(event);
  else
    run_header(decoder, &meaning);
  kymo_program_run(&plan->program, &decoder->run);
}

/* The event after this one in its packet, if it was found ahead and is not replaced by later ones yet. */
static const struct kymo_found *find_next(const struct kymo_decoder *decoder,
                                          const struct kymo_event *event) {
  const struct kymo_found *found = decoder->found;
  uint32_t count = decoder->event_count;
  uint32_t after = KYMO_COUNT_BEFORE(count, i, found[i].offset_bits <= event->offset_bits);
  bool is_there = after > 0 && after < count && found[after - 1].offset_bits == event->offset_bits;
  return is_there ? &found[after] : NULL;
}

/* The next event's header may begin where this one ends, or after padding. */
uint64_t kymo_event_end(const struct kymo_event *event) {
  struct kymo_decoder *decoder = kymo_decoder_of(event);
  const struct kymo_event_plan *plan = event->plan;
  if (plan->is_constant)
    return kymo_body_bits(event) + plan->size_bits;
  const struct kymo_found *next = decoder->plan->is_aligned ? find_next(decoder, event) : NULL;
  if (next)
    return next->offset_bits;
  kymo_decoder_locate(decoder, event);
  return decoder->run.at;
}
