/* SPDX-License-Identifier: MIT */
/*
 * Records in containers: a record HOLDS others that are in unpacked bytes, or that continue in the next
 * container.
 *
 *   file      … │ container A │ container B │ …
 *                    │ unpack        │
 *                    ▼               ▼
 *   boxes     │ r │ r │ r: begin ─► rest │ r │ …        the begin is carried into the next box (JOINED)
 *
 * A place is a pair: the offset of a container in the file, and the offset in what is unpacked from it; with
 * containers in containers there are more. A box remembers which packed bytes it is made of, so a snapshot
 * needs no unpacked bytes: they are unpacked again when reading continues there.
 *
 * What a file can ask for is bounded: KYMO_UNPACK_MAX for one box, KYMO_PLAN_WORK_MAX for a container of the
 * file with all that it contains, KYMO_PLAN_BOXES containers within each other, PIECES_MAX containers for a
 * record, and TRIED_MAX bytes for attempts to decode a record whose length is unknown.
 */
#include "base/list.h"
#include "plan/machine.h"
#include "plan/unpack.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 1024
#define TRIED_MAX ((uint64_t)256 << 20)
#define FRAMES (KYMO_PLAN_DEPTH + 2)

/* ---- creation, snapshots ---- */

static void clear(struct kymo_plan_contents *contents) {
  for (uint32_t i = 0; i < contents->count; i++)
    if (contents->pieces[i].key.sort == KYMO_SORT_BYTES)
      free((void *)(uintptr_t)contents->pieces[i].key.p);
  free(contents->pieces);
  free(contents->bytes);
  *contents = (struct kymo_plan_contents){0};
}

bool kymo_plan_boxes_make(struct kymo_plan_machine *machine) {
  const struct kymo_plan *plan = machine->plan;
  uint32_t boxes = KYMO_PLAN_COUNT(plan, BOX), *box_of;
  if (boxes == 0)
    return true;
  machine->box_of = box_of = calloc(KYMO_PLAN_COUNT(plan, KIND), sizeof *box_of);
  machine->state.opened = calloc(FRAMES, sizeof *machine->state.opened);
  machine->state.carried = calloc(FRAMES, sizeof *machine->state.carried);
  for (uint32_t i = 0; box_of && i < boxes; i++)
    box_of[plan->boxes[i].kind] = i + 1;
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, INSTRUCTION); i++) {
    const struct kymo_plan_instruction *what = &plan->code[i];
    machine->is_careful |= what->code == KYMO_DO_DEFINE || what->code == KYMO_DO_FORGET ||
                           what->code == KYMO_DO_DEFINE_RECORD || what->code == KYMO_DO_SYNC ||
                           what->code == KYMO_DO_ORDER_FILE ||
                           (what->code == KYMO_DO_TIME && (what->b & KYMO_TIME_MODE) == KYMO_TIME_DISTANCE);
  }
  for (uint32_t i = 0; i < KYMO_PLAN_COUNT(plan, OVERRIDE); i++)
    machine->is_careful |=
        plan->overrides[i].clock != KYMO_PLAN_NONE && plan->overrides[i].time_mode == KYMO_TIME_DISTANCE;
  return box_of && machine->state.opened && machine->state.carried;
}

static bool copy_contents(struct kymo_plan_contents *to, const struct kymo_plan_contents *from) {
  *to = *from;
  to->bytes = NULL;
  to->count = to->capacity = 0;
  to->pieces = from->count ? calloc(from->count, sizeof *to->pieces) : NULL;
  if (from->count && !to->pieces)
    return false;
  to->capacity = from->count;
  for (; to->count < from->count; to->count++) {
    struct kymo_plan_piece *piece = &to->pieces[to->count];
    *piece = from->pieces[to->count];
    piece->key.sort = KYMO_SORT_ABSENT;
    if (!kymo_plan_own(&piece->key, &from->pieces[to->count].key))
      return false;
  }
  return true;
}

bool kymo_plan_boxes_copy(struct kymo_plan_state *to, const struct kymo_plan_state *from) {
  to->opened = to->carried = NULL;
  if (!from->opened)
    return true;
  to->opened = calloc(FRAMES, sizeof *to->opened);
  to->carried = calloc(FRAMES, sizeof *to->carried);
  bool ok = to->opened && to->carried;
  for (uint32_t i = 0; ok && i < FRAMES; i++)
    ok = copy_contents(&to->opened[i], &from->opened[i]) && copy_contents(&to->carried[i], &from->carried[i]);
  return ok;
}

static bool is_same(const struct kymo_plan_contents *a, const struct kymo_plan_contents *b) {
  bool is = a->count == b->count && a->count > 0 && a->outer == b->outer && a->size == b->size;
  for (uint32_t i = 0; is && i < a->count; i++) {
    const struct kymo_plan_piece *one = &a->pieces[i], *other = &b->pieces[i];
    is = one->at == other->at && one->end == other->end && one->skip == other->skip &&
         one->size == other->size && one->how == other->how && one->key.sort == KYMO_SORT_ABSENT &&
         other->key.sort == KYMO_SORT_ABSENT;
  }
  return is;
}

void kymo_plan_boxes_take(struct kymo_plan_state *to, struct kymo_plan_state *from) {
  bool are_outer_same = true;
  for (uint32_t i = 0; to->opened && from->opened && are_outer_same && i < FRAMES; i++) {
    struct kymo_plan_contents *one = &to->opened[i], *other = &from->opened[i];
    if (one->count == 0 && other->count == 0)
      continue;
    are_outer_same = is_same(one, other);
    if (!are_outer_same)
      continue;
    free(one->bytes);
    one->bytes = other->bytes;
    other->bytes = NULL;
  }
}

void kymo_plan_boxes_clear(struct kymo_plan_state *state) {
  for (uint32_t i = 0; i < FRAMES; i++) {
    if (state->opened)
      clear(&state->opened[i]);
    if (state->carried)
      clear(&state->carried[i]);
  }
  state->unpacked = 0;
}

void kymo_plan_boxes_free(struct kymo_plan_state *state) {
  kymo_plan_boxes_clear(state);
  free(state->opened);
  free(state->carried);
  state->opened = state->carried = NULL;
}

/* ---- places ---- */

/* The piece that a byte of a box comes from. Its last byte's end belongs to the last one. */
static const struct kymo_plan_piece *piece_at(const struct kymo_plan_contents *contents, uint64_t at) {
  uint32_t i = contents->count - 1;
  while (i > 0 && contents->pieces[i].from > at)
    i--;
  return &contents->pieces[i];
}

static struct kymo_plan_place place_in(const struct kymo_plan_state *state,
                                       const struct kymo_plan_contents *contents, uint64_t at) {
  const struct kymo_plan_piece *piece = piece_at(contents, at);
  struct kymo_plan_place place = kymo_plan_place_at(state, contents->outer, piece->container);
  if (place.depth < KYMO_PLAN_BOXES)
    place.within[place.depth++] = at - piece->from + piece->skip;
  return place;
}

struct kymo_plan_place kymo_plan_place_at(const struct kymo_plan_state *state, uint32_t box, uint64_t at) {
  if (box == 0 || !state->opened || state->opened[box - 1].count == 0)
    return (struct kymo_plan_place){.offset = at};
  return place_in(state, &state->opened[box - 1], at);
}

static bool find_up_to(const struct kymo_plan_state *state, uint32_t box, const struct kymo_plan_place *place,
                       uint32_t depth, uint64_t *at) {
  *at = place->offset;
  if (box == 0 || !state->opened)
    return depth == 0;
  const struct kymo_plan_contents *contents = &state->opened[box - 1];
  uint64_t container;
  if (depth == 0 || !find_up_to(state, contents->outer, place, depth - 1, &container))
    return false;
  uint64_t within = place->within[depth - 1];
  for (uint32_t i = 0; i < contents->count; i++) {
    const struct kymo_plan_piece *piece = &contents->pieces[i];
    *at = piece->from + (within - piece->skip);
    if (piece->container == container && within >= piece->skip && within < piece->size)
      return true;
  }
  return false;
}

bool kymo_plan_place_find(const struct kymo_plan_state *state, uint32_t box,
                          const struct kymo_plan_place *place, uint64_t *at) {
  return find_up_to(state, box, place, place->depth, at);
}

void kymo_plan_place_text(const struct kymo_plan_place *place, char out[KYMO_PLAN_PLACE_BYTES]) {
  int used = snprintf(out, KYMO_PLAN_PLACE_BYTES, "%" PRIu64, place->offset);
  for (uint32_t i = 0; i < place->depth; i++)
    used += snprintf(out + used, (size_t)(KYMO_PLAN_PLACE_BYTES - used), "+%" PRIu64, place->within[i]);
}

void kymo_plan_note_text(const struct kymo_plan_note *note, char out[KYMO_PLAN_NOTE_BYTES]) {
  char place[KYMO_PLAN_PLACE_BYTES];
  kymo_plan_place_text(&note->place, place);
  const char *within = strchr(place, '+');
  snprintf(out, KYMO_PLAN_NOTE_BYTES, "%s%s%s%s", note->text, within ? ", at byte " : "",
           within ? within + 1 : "", within ? " of what is unpacked there" : "");
}

/* ---- the bytes of frames ---- */

void kymo_plan_face(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  const struct kymo_plan_contents *contents = frame->box ? &machine->state.opened[frame->box - 1] : NULL;
  machine->box = frame->box;
  machine->bytes = contents ? contents->bytes : machine->data;
  machine->bytes_size = contents ? contents->size : machine->size;
}

/* Space for `size` more bytes, and the slack after them. */
static bool reserve(struct kymo_plan_machine *machine, struct kymo_plan_contents *contents, uint64_t size) {
  uint8_t *bytes = realloc(contents->bytes, (size_t)(contents->size + size) + KYMO_PLAN_SLACK);
  machine->failed |= !bytes;
  if (bytes)
    contents->bytes = bytes;
  return bytes != NULL;
}

/* Unpacks a piece. Returns NULL, or what is wrong. */
static const char *unpack(const struct kymo_plan_machine *machine, const struct kymo_plan_piece *piece,
                          uint32_t outer, struct kymo_unpacked *out) {
  const uint8_t *bytes = outer ? machine->state.opened[outer - 1].bytes : machine->data;
  uint64_t size = piece->end - piece->at;
  if (size > UINT32_MAX / 2)
    return "more than 2 GiB of packed bytes";
  return kymo_plan_unpack_any(out, (enum kymo_plan_method)machine->plan->boxes[piece->how].method,
                              bytes + piece->at, (size_t)size, &piece->key);
}

/* Unpacks all pieces again. */
static bool unpack_again(struct kymo_plan_machine *machine, struct kymo_plan_contents *contents) {
  uint64_t size = contents->size;
  bool is_same_still = true;
  contents->size = 0;
  if (!reserve(machine, contents, size))
    return false;
  for (uint32_t i = 0; i < contents->count && is_same_still; i++) {
    const struct kymo_plan_piece *piece = &contents->pieces[i];
    struct kymo_unpacked out = {0};
    is_same_still = !unpack(machine, piece, contents->outer, &out) && !out.is_over && !out.failed &&
                    out.size == piece->size && piece->size - piece->skip <= size - contents->size;
    machine->failed |= out.failed;
    if (is_same_still && out.size)
      memcpy(contents->bytes + contents->size, out.bytes + piece->skip, (size_t)(piece->size - piece->skip));
    contents->size += is_same_still ? piece->size - piece->skip : 0;
    free(out.bytes);
  }
  is_same_still = is_same_still && contents->size == size;
  if (!is_same_still) { /* what is there is no longer what the positions refer to */
    memset(contents->bytes + contents->size, 0, (size_t)(size - contents->size) + KYMO_PLAN_SLACK);
    contents->size = size;
  }
  return is_same_still;
}

static bool ready(struct kymo_plan_machine *machine, struct kymo_plan_contents *contents) {
  struct kymo_plan_contents *outer = contents->outer ? &machine->state.opened[contents->outer - 1] : NULL;
  if (contents->count == 0 || contents->bytes)
    return true;
  bool ok = (!outer || ready(machine, outer)) &&
            contents->pieces[contents->count - 1].end <= (outer ? outer->size : machine->size);
  return ok && unpack_again(machine, contents);
}

bool kymo_plan_box_ready(struct kymo_plan_machine *machine, const struct kymo_plan_frame *frame) {
  if (!frame->box || ready(machine, &machine->state.opened[frame->box - 1]))
    return true;
  kymo_plan_face(machine, frame);
  return kymo_plan_raise(machine, machine->failed ? 9 : 2, frame->at, "%s",
                         machine->failed ? "out of memory"
                                         : "the packed bytes have changed since they were read");
}

/* ---- opening ---- */

/* A container that is being opened. */
struct opening {
  struct kymo_plan_machine *machine;
  struct kymo_plan_frame *around; /* the frame of the container's record */
  const struct kymo_plan_box *box;
  struct kymo_plan_contents *carried; /* what the containers before have left, or NULL: not joined */
  struct kymo_plan_piece piece;
  uint32_t r; /* the fault, or 0 */
  const char *fault;
};

static bool fail(struct opening *opening, uint32_t r, const char *fault) {
  opening->r = r;
  opening->fault = fault;
  return false;
}

/* The size of the region, and the key. */
static bool evaluate(struct opening *opening, uint64_t from, uint64_t end) {
  struct kymo_plan_machine *machine = opening->machine;
  const struct kymo_plan_box *box = opening->box;
  struct kymo_expr_value key = {.sort = KYMO_SORT_ABSENT};
  uint64_t bytes = end - from;
  bool ok = box->bytes == KYMO_PLAN_NONE ||
            kymo_plan_count_of(machine, box->bytes, "the size of the held records", &bytes);
  ok = ok && (box->key == KYMO_PLAN_NONE || kymo_plan_evaluate(machine, box->key, &key));
  if (!ok) { /* raised, which ends no record that is complete */
    fail(opening, machine->r, "the size of the held records, or the key of XOR, has no value");
    machine->r = 0;
    return false;
  }
  if (bytes > end - from)
    return fail(opening, 2, "the held records have more bytes than the record has left");
  if (box->method == KYMO_METHOD_XOR && key.sort != KYMO_SORT_NUMBER && key.sort != KYMO_SORT_BYTES)
    return fail(opening, 10, "the key of XOR is absent");
  opening->piece.at = from;
  opening->piece.end = from + bytes;
  machine->failed |= !kymo_plan_own(&opening->piece.key, &key);
  return !machine->failed;
}

static uint32_t depth_of(const struct kymo_plan_state *state, uint32_t box) {
  uint32_t depth = 0;
  for (; box; depth++)
    box = state->opened[box - 1].outer;
  return depth;
}

/* The unpacked bytes of the container. */
static bool unpack_container(struct opening *opening, struct kymo_unpacked *out) {
  struct kymo_plan_machine *machine = opening->machine;
  struct kymo_plan_state *state = &machine->state;
  uint64_t before = opening->carried ? opening->carried->size : 0;
  state->unpacked = machine->box ? state->unpacked : 0;
  if (depth_of(state, machine->box) >= KYMO_PLAN_BOXES)
    return fail(opening, 9, "containers within each other deeper than 4");
  if (opening->carried && opening->carried->count >= PIECES_MAX)
    return fail(opening, 9, "a record in more than 1024 containers");
  const char *wrong = unpack(machine, &opening->piece, machine->box, out);
  machine->failed |= out->failed;
  if (out->failed)
    return false;
  if (out->is_over || (!wrong && out->size > KYMO_UNPACK_MAX - before))
    return fail(opening, 9, "more than 64 MiB of unpacked records");
  if (wrong)
    return fail(opening, 2, wrong);
  state->unpacked += out->size;
  if (state->unpacked > KYMO_PLAN_WORK_MAX)
    return fail(opening, 9, "containers within a container with more than 256 MiB of unpacked bytes");
  opening->piece.size = out->size;
  return true;
}

/* Adds the unpacked bytes to those that were carried. */
static bool append(struct opening *opening, struct kymo_plan_contents *to, struct kymo_unpacked *out) {
  struct kymo_plan_machine *machine = opening->machine;
  opening->piece.from = to->size;
  if (!KYMO_LIST_ROOM(to->pieces, to->capacity, to->count) || !reserve(machine, to, out->size)) {
    machine->failed = true;
    return false;
  }
  if (out->size)
    memcpy(to->bytes + to->size, out->bytes, out->size);
  to->size += out->size;
  memset(to->bytes + to->size, 0, KYMO_PLAN_SLACK);
  to->pieces[to->count++] = opening->piece;
  opening->piece.key.sort = KYMO_SORT_ABSENT; /* it belongs to the box now */
  to->outer = machine->box;
  return true;
}

static bool is_stopping(const struct kymo_plan *plan, uint32_t r) {
  enum kymo_plan_policy given = (enum kymo_plan_policy)plan->root->policies[r];
  return given == KYMO_PLAN_POLICY_STOP || (r == 9 && given == KYMO_PLAN_POLICY_DEFAULT);
}

/* One damage for the container, and for the begin of a record that would continue in it. */
static void give_up(struct opening *opening) {
  struct kymo_plan_machine *machine = opening->machine;
  bool stops = is_stopping(machine->plan, opening->r),
       has_begin = opening->carried && opening->carried->count;
  char text[160];
  snprintf(text, sizeof text, "%s%s", opening->fault,
           has_begin ? "; a record that begins in the container before it is lost, too" : "");
  kymo_plan_note_damage(machine, opening->r, machine->start,
                        stops && machine->box == 0 ? machine->size : machine->start + machine->length, text);
  machine->is_damaged = true;
  machine->state.is_over |= stops;
  if (opening->carried)
    clear(opening->carried);
  opening->around->is_lost = opening->box->is_joined;
}

static void enter(struct opening *opening, struct kymo_plan_contents *contents,
                  struct kymo_plan_frame *inner) {
  struct kymo_plan_state *state = &opening->machine->state;
  struct kymo_plan_contents *opened = &state->opened[state->depth];
  clear(opened);
  *opened = *contents;
  *contents = (struct kymo_plan_contents){0};
  opened->wanted = 0;
  inner->box = state->depth + 1;
  inner->begin = inner->at = 0;
  inner->end = opened->size;
  inner->is_joined = opening->box->is_joined;
  inner->is_after_loss = inner->is_joined && opening->around->is_lost;
  opening->around->is_lost &= !inner->is_joined;
}

/* Unpacks, and enters unless the record that was carried is still longer. False: a fault, or no memory. */
static bool open_packed(struct opening *opening, struct kymo_plan_frame *inner) {
  struct kymo_plan_machine *machine = opening->machine;
  struct kymo_plan_contents alone = {0}, *contents = opening->carried ? opening->carried : &alone;
  struct kymo_unpacked out = {0};
  if (!ready(machine, contents) && !machine->failed)
    return fail(opening, 2, "the packed bytes before it have changed since they were read");
  bool ok = !machine->failed && unpack_container(opening, &out) && append(opening, contents, &out);
  free(out.bytes);
  if (ok && contents->size >= contents->wanted)
    enter(opening, contents, inner);
  clear(&alone);
  return ok;
}

bool kymo_plan_box_open(struct kymo_plan_machine *machine, struct kymo_plan_frame *inner) {
  uint32_t how = machine->box_of ? machine->box_of[inner->holder] : 0;
  struct kymo_plan_state *state = &machine->state;
  if (how == 0)
    return true;
  const struct kymo_plan_box *box = &machine->plan->boxes[how - 1];
  struct opening opening = {.machine = machine,
                            .around = &state->frames[state->depth - 1],
                            .box = box,
                            .carried = box->is_joined ? &state->carried[state->depth - 1] : NULL,
                            .piece = {.container = machine->start, .how = how - 1}};
  uint64_t from = inner->begin, end = inner->end;
  inner->end = from;
  bool was_cut = machine->is_damaged && from == end; /* which was reported */
  bool ok = was_cut ? fail(&opening, 0, "") : evaluate(&opening, from, end);
  if (ok && box->method == KYMO_METHOD_PLAIN && !box->is_joined)
    inner->end = opening.piece.end;
  else if (ok)
    ok = open_packed(&opening, inner);
  if (opening.piece.key.sort == KYMO_SORT_BYTES)
    free((void *)(uintptr_t)opening.piece.key.p);
  if (was_cut && opening.carried) {
    clear(opening.carried);
    opening.around->is_lost = true;
  } else if (!ok && opening.r) {
    give_up(&opening);
  }
  return !machine->failed;
}

/* ---- records that are cut ---- */

bool kymo_plan_box_carry(struct kymo_plan_machine *machine, struct kymo_plan_frame *frame) {
  struct kymo_plan_state *state = &machine->state;
  if (!frame || !frame->is_joined || machine->r != 1 || state->depth < 2)
    return false;
  struct kymo_plan_contents *from = &state->opened[state->depth - 1], *to = &state->carried[state->depth - 2];
  uint64_t dropped = frame->at, left = from->size - dropped;
  uint64_t tried = (frame->at == 0 ? from->tried : 0) + (machine->wanted_end ? 0 : left);
  if (tried > TRIED_MAX || (machine->wanted_end && machine->wanted_end - frame->at > KYMO_UNPACK_MAX)) {
    machine->r = 0;
    return kymo_plan_raise(machine, 9, frame->at, "a record that is too long for containers");
  }
  uint32_t first = 0;
  while (first + 1 < from->count && from->pieces[first + 1].from <= dropped)
    first++;
  for (uint32_t i = 0; i < from->count; i++) {
    struct kymo_plan_piece *piece = &from->pieces[i];
    if (i < first && piece->key.sort == KYMO_SORT_BYTES)
      free((void *)(uintptr_t)piece->key.p);
    if (i < first)
      continue;
    piece->skip += piece->from < dropped ? dropped - piece->from : 0;
    piece->from = piece->from < dropped ? 0 : piece->from - dropped;
    from->pieces[i - first] = *piece;
  }
  from->count -= first;
  memmove(from->bytes, from->bytes + dropped, (size_t)left);
  from->size = left;
  from->before += dropped;
  from->tried = tried;
  from->wanted = machine->wanted_end ? machine->wanted_end - dropped : 0;
  clear(to);
  *to = *from;
  *from = (struct kymo_plan_contents){0};
  frame->box = 0; /* it ends */
  frame->at = frame->end;
  frame->is_joined = false;
  return true;
}

void kymo_plan_box_close(struct kymo_plan_machine *machine, uint32_t index) {
  struct kymo_plan_state *state = &machine->state;
  struct kymo_plan_contents *carried = state->carried ? &state->carried[index] : NULL;
  if (!carried)
    return;
  if (carried->count && carried->size) {
    struct kymo_plan_place place = place_in(state, carried, 0);
    kymo_plan_note_damage_at(machine, 1, &place, carried->size, "the packed records end within a record");
  }
  clear(carried);
  clear(&state->opened[index]);
}
