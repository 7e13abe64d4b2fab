/* SPDX-License-Identifier: MIT */
/* Windows inside of records, and packed bytes in them. */
#include "plan/machine.h"
#include "plan/unpack.h"
#include <stdlib.h>
#include <string.h>

static const char *unpack_xor(struct kymo_unpacked *out, const uint8_t *from, size_t size,
                              const struct kymo_expr_value *key) {
  uint8_t number = (uint8_t)key->n.low;
  const uint8_t *bytes = key->sort == KYMO_SORT_BYTES ? key->p : &number;
  size_t length = key->sort == KYMO_SORT_BYTES ? key->size : 1;
  out->is_over = size > KYMO_UNPACK_MAX;
  out->bytes = out->is_over ? NULL : malloc(size + 1);
  out->failed = !out->is_over && !out->bytes;
  if (!out->bytes || length == 0)
    return length ? NULL : "a key of no bytes";
  for (size_t i = 0; i < size; i++)
    out->bytes[i] = from[i] ^ bytes[i % length];
  out->size = size;
  return NULL;
}

const char *kymo_plan_unpack_any(struct kymo_unpacked *out, enum kymo_plan_method method, const uint8_t *from,
                                 size_t size, const struct kymo_expr_value *key) {
  static const struct kymo_expr_value zero = {.sort = KYMO_SORT_NUMBER};
  if (method == KYMO_METHOD_XOR || method == KYMO_METHOD_PLAIN)
    return unpack_xor(out, from, size, method == KYMO_METHOD_XOR ? key : &zero);
  return kymo_plan_unpack_bytes(out, method, from, size);
}

bool kymo_plan_unpack(struct kymo_plan_machine *machine, enum kymo_plan_method method,
                      const struct kymo_expr_value *key) {
  struct kymo_plan_window *window = &machine->windows[machine->window];
  struct kymo_unpacked out = {0};
  uint64_t at = machine->bit / 8;
  if (key && key->sort != KYMO_SORT_NUMBER && key->sort != KYMO_SORT_BYTES)
    return kymo_plan_raise(machine, 10, kymo_plan_offset(machine), "an absent key for XOR");
  const char *wrong =
      window->end - at > UINT32_MAX / 2
          ? "more than 2 GiB of it"
          : kymo_plan_unpack_any(&out, method, window->data + at, (size_t)(window->end - at), key);
  uint8_t *copy =
      wrong || out.is_over || out.failed ? NULL : kymo_plan_work(machine, out.size + KYMO_PLAN_SLACK);
  if (copy && out.size)
    memcpy(copy, out.bytes, out.size);
  free(out.bytes);
  if (out.is_over)
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "unpacked, a window has more than %zu MiB",
                           KYMO_UNPACK_MAX >> 20);
  if (wrong)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "%s", wrong);
  machine->failed |= out.failed;
  if (out.failed)
    return kymo_plan_raise(machine, 9, kymo_plan_offset(machine), "out of memory");
  if (!copy)
    return false;
  window->data = copy;
  window->base = 0;
  window->end = out.size;
  window->is_file_end = false;
  machine->bit = 0;
  return true;
}

bool kymo_plan_enter(struct kymo_plan_machine *machine, uint64_t bytes) {
  const struct kymo_plan_window *outer = &machine->windows[machine->window];
  if (machine->bit % 8 != 0)
    return kymo_plan_raise(machine, 2, kymo_plan_offset(machine),
                           "a window that does not begin on a byte boundary");
  if (bytes > UINT64_MAX / 8 || !kymo_plan_need(machine, bytes * 8))
    return machine->r ? false
                      : kymo_plan_raise(machine, 2, kymo_plan_offset(machine), "a window beyond any file");
  uint64_t at = machine->bit / 8;
  machine->windows[++machine->window] =
      (struct kymo_plan_window){.data = outer->data, .base = at, .at = at + bytes, .end = at + bytes};
  return true;
}

void kymo_plan_leave(struct kymo_plan_machine *machine) {
  machine->bit = machine->windows[machine->window--].at * 8;
}
