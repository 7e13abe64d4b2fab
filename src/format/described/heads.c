/* SPDX-License-Identifier: MIT */
/* The files of a source: one, or several whose records are taken in the order of their SEQUENCE. */
#include "base/fail.h"
#include "format/described/described.h"
#include <stdlib.h>

static int open_head(struct described_head *head, const struct described *described,
                     const struct described_file *file, struct kymo_error *error) {
  int status = kymo_map_open(&head->map, file->path, error);
  if (status != KYMO_OK)
    return status;
  head->is_open = true;
  head->machine = kymo_plan_machine_new(described->plan, described->found, file->number);
  if (head->machine) {
    head->machine->holes = (struct kymo_holes){.bytes_at = kymo_map_bytes, .user = &head->map};
  }
  bool ok = head->machine && (!file->filled || kymo_plan_tables_copy(head->machine, file->filled));
  return ok ? KYMO_OK : kymo_fail(error, KYMO_E_MEMORY, "out of memory");
}

int kymo_described_heads_open(struct described_heads *heads, const struct described *described,
                              struct kymo_error *error) {
  heads->list = calloc(described->file_count, sizeof *heads->list);
  heads->next = calloc(described->file_count, sizeof *heads->next);
  if (!heads->list || !heads->next)
    return kymo_fail(error, KYMO_E_MEMORY, "out of memory");
  int status = KYMO_OK;
  for (heads->count = 0; heads->count < described->file_count && status == KYMO_OK; heads->count++) {
    struct described_head *head = &heads->list[heads->count];
    status = open_head(head, described, &described->files[heads->count], error);
    if (status == KYMO_OK)
      head->machine->first = heads->list[0].machine;
  }
  return status;
}

void kymo_described_heads_close(struct described_heads *heads) {
  for (uint32_t i = 0; i < heads->count; i++) {
    if (heads->list[i].is_open)
      kymo_map_close(&heads->list[i].map);
    kymo_plan_machine_free(heads->list[i].machine);
  }
  free(heads->list);
  free(heads->next);
}

int kymo_described_heads_show(struct described_heads *heads, struct kymo_error *error) {
  for (uint32_t i = 0; i < heads->count; i++) {
    struct described_head *head = &heads->list[i];
    const uint8_t *data;
    uint64_t size;
    int status = kymo_map_get(&head->map, 0, UINT64_MAX, &data, &size, error);
    if (status != KYMO_OK)
      return status;
    if (data == head->machine->data && size == head->machine->size)
      continue;
    kymo_plan_machine_bytes(head->machine, data, size);
    head->is_known = false;
  }
  return KYMO_OK;
}

int kymo_described_heads_check_end(struct described_heads *heads, struct kymo_error *error) {
  for (uint32_t i = 0; i < heads->count; i++) {
    int status = kymo_map_check_end(&heads->list[i].map, error);
    if (status != KYMO_OK)
      return status;
  }
  return KYMO_END;
}

/* Finds out the next entry of each file. */
static void look(struct described_heads *heads) {
  for (uint32_t i = 0; i < heads->count; i++) {
    struct kymo_plan_number number;
    if (heads->list[i].is_known)
      continue;
    heads->list[i].is_known = true;
    heads->next[i] = (struct kymo_sequence_head){.next = KYMO_SEQUENCE_END};
    if (kymo_plan_machine_peek(heads->list[i].machine, &number))
      heads->next[i] = (struct kymo_sequence_head){number.bits ? KYMO_SEQUENCE_NUMBER : KYMO_SEQUENCE_AT_ONCE,
                                                   (uint8_t)number.bits, number.number};
  }
}

int kymo_described_heads_next(struct described_heads *heads) {
  int status = KYMO_END;
  while (status == KYMO_END && heads->count > 1) {
    look(heads);
    size_t taken = kymo_sequence_take(&heads->sequence, heads->next, heads->count);
    if (taken == heads->count)
      return KYMO_END;
    heads->at = (uint32_t)taken;
    heads->list[taken].is_known = false;
    status = kymo_plan_machine_next(heads->list[taken].machine);
  }
  return heads->count > 1 ? status : kymo_plan_machine_next(heads->list[0].machine);
}

void kymo_described_heads_rewind(struct described_heads *heads) {
  for (uint32_t i = 0; i < heads->count; i++) {
    kymo_plan_machine_rewind(heads->list[i].machine);
    heads->list[i].is_known = false;
    heads->list[i].least = 0;
  }
  heads->sequence = (struct kymo_sequence){0};
  heads->at = 0;
}

/* ---- places ---- */

/* The offset of the next record; the end of the file at the end. */
static uint64_t next_offset(const struct kymo_plan_state *state) {
  return state->depth && !state->is_over ? state->frames[state->depth - 1].at : UINT64_MAX;
}

uint64_t kymo_described_place_offset(const struct described_place *place, uint32_t file) {
  return next_offset(&place->snapshots[file].state);
}

bool kymo_described_heads_is_ahead(const struct described_heads *heads, const struct described_place *place,
                                   bool has_boxes) {
  bool is_ahead = false;
  for (uint32_t i = 0; i < heads->count; i++) {
    uint64_t at = has_boxes ? heads->list[i].least : next_offset(&heads->list[i].machine->state),
             before = has_boxes ? place->least[i] : kymo_described_place_offset(place, i);
    if (at < before)
      return false;
    is_ahead |= at > before;
  }
  return is_ahead;
}

bool kymo_described_place_take(struct described_place *place, const struct described_heads *heads,
                               const struct described_order *order) {
  if (!kymo_described_order_copy(&place->order, order))
    return false;
  place->snapshots = calloc(heads->count, sizeof *place->snapshots);
  place->least = calloc(heads->count, sizeof *place->least);
  bool ok = place->snapshots && place->least;
  for (uint32_t i = 0; ok && i < heads->count; i++)
    place->least[i] = heads->list[i].least;
  place->sequence = heads->sequence;
  uint32_t taken = 0;
  while (ok && taken < heads->count &&
         (ok = kymo_plan_snapshot_take(&place->snapshots[taken], heads->list[taken].machine)))
    taken++;
  if (!ok)
    kymo_described_place_free(place, heads, taken);
  return ok;
}

bool kymo_described_place_restore(const struct described_place *place, struct described_heads *heads) {
  heads->sequence = place->sequence;
  for (uint32_t i = 0; i < heads->count; i++) {
    heads->list[i].is_known = false;
    heads->list[i].least = place->least[i];
    if (!kymo_plan_snapshot_restore(&place->snapshots[i], heads->list[i].machine))
      return false;
  }
  return true;
}

void kymo_described_place_free(struct described_place *place, const struct described_heads *heads,
                               uint32_t count) {
  for (uint32_t i = 0; place->snapshots && i < count; i++)
    kymo_plan_snapshot_free(&place->snapshots[i], heads->list[i].machine->plan);
  free(place->snapshots);
  free(place->least);
  place->snapshots = NULL;
  place->least = NULL;
  free(place->row);
  place->row = NULL;
  kymo_described_order_free(&place->order);
}
