/* SPDX-License-Identifier: MIT */
/*
 * kymo_bprintf where the compiler has not generated stores: any directive, formats that are not literals,
 * events that are cut, events in pieces. Each operation is measured first; then the fitting part is stored.
 * Only the programs of call sites are allocated.
 */
#include "base/printfmt.h"
#include "log/format.h"
#include "log/log.h"
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

enum { TEXT_ROOM = 700 }; /* of a number as text: 309 digits of a double, a precision of 200, and signs */

/* An operation with its arguments: the data to be stored. */
struct piece {
  struct kymo_bop op; /* with widths and precisions from arguments */
  const struct kymo_barg *arg;
  const char *format;
  size_t bytes, count; /* to be stored; for a text, memory or object: without its padding and count */
  bool is_cut;         /* it exceeds the maximum of a counted text's number */
};

/* ---- arguments ---- */

static bool is_integer(const struct kymo_barg *arg) {
  return arg->kind == KYMO_BARG_SIGNED || arg->kind == KYMO_BARG_UNSIGNED;
}

static bool is_address(const struct kymo_barg *arg) {
  return arg->kind == KYMO_BARG_TEXT || arg->kind == KYMO_BARG_POINTER;
}

static bool fits(const struct kymo_bop *op, const struct kymo_barg *arg) {
  switch (op->conversion) {
  case 0:
  case 'n': return true;
  case 's':
  case 'S': return arg->kind == KYMO_BARG_TEXT;
  case 'm':
  case 'M':
  case 'p': return is_address(arg);
  case 'o': return is_address(arg) && is_integer(arg + 1);
  case 'b':
  case 'c':
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X': return is_integer(arg);
  default: return arg->kind == KYMO_BARG_FLOAT;
  }
}

static bool is_power(uint32_t size) { return size && size <= 8 && !(size & (size - 1)); }

static bool is_number_as_text(const struct kymo_bop *op) {
  return op->conversion && strchr("diuxXeEfFgGaAp", op->conversion);
}

/* Widths and precisions from arguments: ints, with the meaning that printf defines. */
static bool take_extents(struct kymo_bop *op, const struct kymo_barg *args) {
  uint32_t most = is_number_as_text(op) ? KYMO_BTEXT_WIDTH_MAX : KYMO_BWIDTH_MAX;
  if (op->width_arg >= 0) {
    const struct kymo_barg *arg = &args[op->width_arg];
    int64_t width = (int64_t)arg->number;
    if (!is_integer(arg) || width > (int64_t)most || width < -(int64_t)most)
      return false;
    op->left |= width < 0;
    op->width = (uint32_t)(width < 0 ? -width : width);
    op->has_width = op->conversion != 'b' || width != 0;
  }
  if (op->precision_arg >= 0) {
    const struct kymo_barg *arg = &args[op->precision_arg];
    int64_t precision = (int64_t)arg->number;
    bool is_length = op->conversion == 'm' || op->conversion == 'M';
    if (!is_integer(arg) || (precision > (int64_t)most && !is_length) || precision > INT32_MAX)
      return false;
    op->has_precision = precision >= 0;
    op->precision = precision < 0 ? 0 : (uint32_t)precision;
  }
  return true;
}

/* Bytes of %b's integer, of %n, of the number before %S and %o; 0 if that width does not exist. */
static uint32_t size_of(const struct kymo_bop *op) {
  if (op->conversion == 'b') {
    uint32_t size = op->has_precision ? op->precision : op->has_width ? op->width : 8;
    return is_power(size) ? size : 0;
  }
  return op->has_width ? op->width : op->conversion == 'o' ? 4 : 2;
}

/* ---- measuring ---- */

static uint64_t most_of(uint32_t size) { return size >= 4 ? UINT32_MAX : (UINT64_C(1) << 8 * size) - 1; }

static size_t padded(const struct kymo_bop *op, size_t bytes) {
  return op->has_width && op->width > bytes ? op->width : bytes;
}

static const char *text_of(const struct piece *piece) {
  return piece->arg->pointer ? piece->arg->pointer : "(null)";
}

static void measure_counted(struct piece *piece, uint64_t count, size_t element) {
  uint32_t size = size_of(&piece->op);
  piece->is_cut = count > most_of(size);
  piece->count = piece->is_cut ? (size_t)most_of(size) : (size_t)count;
  piece->bytes = piece->count > (SIZE_MAX / 2) / element ? SIZE_MAX / 2 : size + piece->count * element;
}

static size_t print_number(char *text, const struct piece *piece) {
  const struct kymo_bop *op = &piece->op;
  struct kymo_printfmt_piece print = {.conversion = op->conversion,
                                      .modifier = op->modifier,
                                      .left = op->left,
                                      .plus = op->plus,
                                      .blank = op->blank,
                                      .alternate = op->alternate,
                                      .zero = op->zero,
                                      .has_precision = op->has_precision,
                                      .width = op->width,
                                      .precision = op->precision};
  unsigned bits = op->modifier == 'H' ? 8 : op->modifier == 'h' ? 16 : piece->arg->bytes > 4 ? 64 : 32;
  if (op->conversion == 'p' && !piece->arg->pointer) {
    size_t padding = kymo_printfmt_padding(&print, 5);
    memset(text, ' ', padding + 5);
    memcpy(text + (op->left ? 0 : padding), "(nil)", 5);
    return padding + 5;
  }
  if (op->conversion == 'p') {
    print.conversion = 'x';
    print.alternate = true;
    return (size_t)(kymo_printfmt_number(text, &print, (uintptr_t)piece->arg->pointer, 64) - text);
  }
  return (size_t)(kymo_printfmt_number(text, &print, piece->arg->number, bits) - text);
}

/* libc formats floats, by a format built here. */
static size_t print_float(char *text, const struct piece *piece) {
  const struct kymo_bop *op = &piece->op;
  char format[16], *at = format;
  double value;
  memcpy(&value, &piece->arg->number, sizeof value);
  *at++ = '%';
  for (int i = 0; i < 5; i++)
    if ((bool[]){op->left, op->plus, op->blank, op->alternate, op->zero}[i])
      *at++ = "-+ #0"[i];
  at = stpcpy(at, "*.*");
  *at++ = op->conversion;
  *at = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  int length =
      snprintf(text, TEXT_ROOM, format, (int)op->width, op->has_precision ? (int)op->precision : -1, value);
#pragma GCC diagnostic pop
  return length < 0 ? 0 : (size_t)length < TEXT_ROOM ? (size_t)length : TEXT_ROOM - 1;
}

static size_t print(char *text, const struct piece *piece) {
  return piece->arg->kind == KYMO_BARG_FLOAT ? print_float(text, piece) : print_number(text, piece);
}

/* The size of an operation. False: an argument does not fit. */
static bool measure(struct piece *piece, const char *format, const struct kymo_bop *op,
                    const struct kymo_barg *args) {
  char text[TEXT_ROOM];
  *piece = (struct piece){.op = *op, .arg = args + op->arg, .format = format};
  if (!take_extents(&piece->op, args) || !fits(op, piece->arg))
    return false;
  op = &piece->op;
  switch (op->conversion) {
  case 0: piece->bytes = op->length; return true;
  case 'n': piece->bytes = size_of(op); return true;
  case 'c':
    piece->count = 1;
    piece->bytes = padded(op, 1);
    return true;
  case 'b':
    piece->count = size_of(op);
    piece->bytes = padded(op, piece->count);
    return piece->count > 0;
  case 's':
    piece->count = op->has_precision ? strnlen(text_of(piece), op->precision) : strlen(text_of(piece));
    piece->bytes = padded(op, piece->count) + op->zero;
    return true;
  case 'S':
    measure_counted(piece,
                    op->has_precision ? strnlen(text_of(piece), op->precision) : strlen(text_of(piece)), 1);
    return true;
  case 'o':
    measure_counted(piece, piece->arg->pointer ? piece->arg[1].number : 0,
                    op->has_precision && op->precision ? op->precision : 1);
    return true;
  case 'm':
  case 'M':
    piece->count = !piece->arg->pointer ? 0 : op->has_precision ? op->precision : 1;
    piece->bytes = padded(op, op->conversion == 'M' ? 2 * piece->count : piece->count);
    return true;
  default: piece->bytes = print(text, piece); return true;
  }
}

/* ---- storing ---- */

static void put_number(unsigned char *at, uint64_t number, uint32_t size, char order) {
  kymo_bput_(at, number, size, order);
}

/* Bytes in a wider field: `fill` before or after them. */
static void put_field(unsigned char *at, const struct piece *piece, const void *bytes, unsigned char fill) {
  size_t room = piece->bytes - (piece->op.conversion == 's' && piece->op.zero), padding = room - piece->count;
  memset(at, fill, room);
  if (piece->count)
    memcpy(piece->op.left ? at : at + padding, bytes, piece->count);
}

static void put_hex(unsigned char *at, const struct piece *piece) {
  static const char digits[] = "0123456789abcdef";
  const uint8_t *from = piece->arg->pointer;
  memset(at, ' ', piece->bytes);
  at += piece->op.left ? 0 : piece->bytes - 2 * piece->count;
  for (size_t i = 0; i < piece->count; i++) {
    *at++ = (unsigned char)digits[from[i] >> 4];
    *at++ = (unsigned char)digits[from[i] & 15];
  }
}

static void put_counted(unsigned char *at, const struct piece *piece, const void *bytes) {
  uint32_t size = size_of(&piece->op);
  put_number(at, piece->count, size, piece->op.order);
  if (piece->bytes > size)
    memcpy(at + size, bytes, piece->bytes - size);
}

static void store(unsigned char *at, const struct piece *piece) {
  const struct kymo_bop *op = &piece->op;
  unsigned char number[8];
  char text[TEXT_ROOM];
  switch (op->conversion) {
  case 0: memcpy(at, piece->format + op->text, op->length); break;
  case 'n': memset(at, 0, piece->bytes); break;
  case 'c':
    number[0] = (unsigned char)piece->arg->number;
    put_field(at, piece, number, ' ');
    break;
  case 'b':
    put_number(number, piece->arg->number, (uint32_t)piece->count, op->order);
    put_field(at, piece, number, 0);
    break;
  case 's':
    put_field(at, piece, text_of(piece), ' ');
    if (op->zero)
      at[piece->bytes - 1] = 0;
    break;
  case 'S': put_counted(at, piece, text_of(piece)); break;
  case 'o': put_counted(at, piece, piece->arg->pointer); break;
  case 'm': put_field(at, piece, piece->arg->pointer, 0); break;
  case 'M': put_hex(at, piece); break;
  default: memcpy(at, text, print(text, piece)); break;
  }
}

/* ---- events ---- */

/* How much of a format fits, and the resulting size. */
struct plan {
  uint32_t ops; /* that fit */
  size_t bytes, most;
  bool is_cut;
};

/* False: an argument is missing or does not fit. `most` is reduced to the maximum that the smallest %n can
 * express. */
static bool plan_all(struct plan *plan, const struct kymo_bprogram *program, const char *format,
                     const struct kymo_barg *args, size_t count) {
  struct piece piece;
  if (program->args > count)
    return false;
  for (uint32_t i = 0; i < program->count; i++)
    if (program->ops[i].conversion == 'n' && most_of(size_of(&program->ops[i])) < plan->most)
      plan->most = (size_t)most_of(size_of(&program->ops[i]));
  for (; plan->ops < program->count; plan->ops++) {
    if (!measure(&piece, format, &program->ops[plan->ops], args))
      return false;
    plan->is_cut |= piece.is_cut;
    if (piece.bytes > plan->most - plan->bytes) {
      plan->is_cut = true;
      break;
    }
    plan->bytes += piece.bytes;
  }
  for (uint32_t i = plan->ops; i < program->count; i++) /* the part that is left out must be valid as well */
    if (!measure(&piece, format, &program->ops[i], args))
      return false;
  return true;
}

static int refuse(void) {
  errno = EINVAL;
  return -1;
}

/* Texts are measured again: another thread may have changed them, and exactly the planned size is stored. */
static bool store_all(unsigned char *at, const struct plan *plan, const struct kymo_bprogram *program,
                      const char *format, const struct kymo_barg *args) {
  const unsigned char *end = at + plan->bytes;
  struct piece piece;
  for (uint32_t i = 0; i < plan->ops; i++) {
    if (!measure(&piece, format, &program->ops[i], args) || piece.bytes > (size_t)(end - at)) {
      memset(at, 0, (size_t)(end - at));
      return false;
    }
    if (program->ops[i].conversion == 'n')
      put_number(at, plan->bytes, (uint32_t)piece.bytes, program->ops[i].order);
    else
      store(at, &piece);
    at += piece.bytes;
  }
  memset(at, 0, (size_t)(end - at));
  return true;
}

static struct kymo_bplace_ reserve(struct kymo_log *log, size_t size, bool is_cut) {
  if (is_cut)
    __atomic_fetch_add(&kymo_log_state(log)->truncated, 1, __ATOMIC_RELAXED);
  return kymo_breserve_(log, size, is_cut ? KYMO_FRAME_CUT_ : 0);
}

/* Where an event goes. */
struct target {
  struct kymo_log *log;
  const struct kymo_definition *definition; /* or NULL */
};

static struct kymo_bplace_ reserve_at(const struct target *target, size_t size, bool is_cut) {
  if (!target->definition)
    return reserve(target->log, size, is_cut);
  if (is_cut) /* a text that exceeds the maximum of its number */
    __atomic_fetch_add(&kymo_log_state(target->log)->truncated, 1, __ATOMIC_RELAXED);
  return kymo_breserve_defined_(target->definition, size);
}

/* A field of fixed size cannot be shortened if there is no memory. */
static bool lacks_memory(const struct kymo_bprogram *program, const struct kymo_barg *args) {
  for (uint32_t i = 0; i < program->count; i++) {
    char conversion = program->ops[i].conversion;
    if ((conversion == 'm' || conversion == 'M') && !args[program->ops[i].arg].pointer)
      return true;
  }
  return false;
}

static int put_event(const struct target *target, const struct kymo_bprogram *program, const char *format,
                     const struct kymo_barg *args, size_t count) {
  struct plan plan = {.most = target->log->event_max -
                              (target->definition ? sizeof target->definition->index : 0)};
  if (!plan_all(&plan, program, format, args, count) || (target->definition && lacks_memory(program, args)))
    return refuse();
  if (target->definition && plan.ops < program->count) /* an event with half of its fields would be corrupt */
    return kymo_log_lose(target->log);
  struct kymo_bplace_ place = reserve_at(target, plan.bytes, plan.is_cut);
  if (!place.at)
    return -1;
  store_all(place.at, &plan, program, format, args);
  kymo_bcommit_(place, place.at + plan.bytes);
  return (int)plan.bytes;
}

int kymo_bvprintf(struct kymo_log *log, const char *format, const struct kymo_barg *args, size_t count) {
  struct kymo_bprogram program;
  size_t at;
  if (!__atomic_load_n(&log->point->enabled, __ATOMIC_RELAXED))
    return 0;
  return kymo_bformat_parse(&program, format, &at)
             ? refuse()
             : put_event(&(struct target){log, NULL}, &program, format, args, count);
}

int kymo_definition_vprintf(struct kymo_definition *definition, const char *format,
                            const struct kymo_barg *args, size_t count) {
  struct kymo_bprogram program;
  uint32_t unused = 0;
  size_t at;
  if (!__atomic_load_n(&definition->log->point->enabled, __ATOMIC_RELAXED))
    return 0;
  if (kymo_bformat_parse(&program, format, &at) || !kymo_definition_fits_(definition, &unused, format))
    return refuse();
  return put_event(&(struct target){definition->log, definition}, &program, format, args, count);
}

/* ---- call sites ---- */

/* A permanent copy; NULL: no memory. May run in a handler. */
static const struct kymo_bprogram *keep(const struct kymo_bprogram *program) {
  void *memory = mmap(NULL, sizeof *program, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memcpy(memory, program, sizeof *program);
}

static int put_of_site(const struct target *target, struct kymo_bcache_ *cache, const char *format,
                       const struct kymo_barg *args, size_t count) {
  /* acquire: the program is complete; partner: the exchange below */
  const struct kymo_bprogram *program = __atomic_load_n(&cache->program, __ATOMIC_ACQUIRE);
  struct kymo_bprogram parsed;
  size_t at;
  if (!program) {
    if (kymo_bformat_parse(&parsed, format, &at))
      return refuse();
    const struct kymo_bprogram *kept = keep(&parsed), *none = NULL;
    program = &parsed;
    if (kept &&
        !__atomic_compare_exchange_n(&cache->program, &none, kept, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      munmap((void *)(uintptr_t)kept, sizeof *kept); /* another thread was faster */
  }
  return put_event(target, program, format, args, count);
}

int kymo_bprintf_slow_(struct kymo_log *log, struct kymo_bcache_ *cache, const char *format,
                       const struct kymo_barg *args, size_t count) {
  return put_of_site(&(struct target){log, NULL}, cache, format, args, count);
}

int kymo_definition_slow_(struct kymo_definition *definition, struct kymo_bcache_ *cache, const char *format,
                          const struct kymo_barg *args, size_t count) {
  return put_of_site(&(struct target){definition->log, definition}, cache, format, args, count);
}

/* ---- events in pieces ---- */

void kymo_bevent_begin(struct kymo_bevent *event, struct kymo_log *log, void *room, size_t size) {
  *event = (struct kymo_bevent){
      .log = __atomic_load_n(&log->point->enabled, __ATOMIC_RELAXED) ? log : NULL, .begin = room, .at = room};
  event->end = event->begin + (size < log->event_max ? size : log->event_max);
}

/* Remembers the offsets of the lengths. */
static bool add_holes(struct kymo_bevent *event, const struct plan *plan, const struct kymo_bprogram *program,
                      const char *format, const struct kymo_barg *args) {
  size_t at = (size_t)(event->at - event->begin);
  struct piece piece;
  for (uint32_t i = 0; i < plan->ops; i++) {
    const struct kymo_bop *op = &program->ops[i];
    if (op->conversion == 'n') {
      if (event->holes == sizeof event->hole / sizeof event->hole[0])
        return false;
      event->hole[event->holes++] =
          (struct kymo_bhole){(uint32_t)at, (uint8_t)size_of(op), (uint8_t)op->order};
    }
    measure(&piece, format, op, args);
    at += piece.bytes;
  }
  return true;
}

/* The maximum size of the event that the lengths of a program allow. */
static size_t most_with(const struct kymo_bevent *event, const struct kymo_bprogram *program) {
  size_t most = (size_t)(event->end - event->begin);
  for (uint32_t i = 0; i < program->count; i++)
    if (program->ops[i].conversion == 'n' && most_of(size_of(&program->ops[i])) < most)
      most = (size_t)most_of(size_of(&program->ops[i]));
  return most;
}

static int give_up(struct kymo_bevent *event) {
  event->log = NULL;
  return refuse();
}

int kymo_bevent_vprintf(struct kymo_bevent *event, const char *format, const struct kymo_barg *args,
                        size_t count) {
  struct kymo_bprogram program;
  size_t at;
  if (!event->log || event->is_cut)
    return 0;
  if (kymo_bformat_parse(&program, format, &at))
    return give_up(event);
  size_t used = (size_t)(event->at - event->begin), most = most_with(event, &program);
  struct plan plan = {.most = most > used ? most - used : 0};
  if (most < used) {
    event->is_cut = true;
    return 0;
  }
  if (!plan_all(&plan, &program, format, args, count) || !add_holes(event, &plan, &program, format, args))
    return give_up(event);
  event->end = event->begin + most;
  store_all(event->at, &plan, &program, format, args);
  event->at += plan.bytes;
  event->is_cut = plan.is_cut;
  return (int)plan.bytes;
}

void *kymo_bevent_space(struct kymo_bevent *event, size_t size) {
  if (!event->log || event->is_cut)
    return NULL;
  if (size > (size_t)(event->end - event->at)) {
    event->is_cut = true;
    return NULL;
  }
  void *at = event->at;
  event->at += size;
  return at;
}

int kymo_bevent_commit(struct kymo_bevent *event) {
  struct kymo_log *log = event->log;
  size_t size = (size_t)(event->at - event->begin);
  if (!log)
    return 0;
  event->log = NULL;
  for (uint32_t i = 0; i < event->holes; i++)
    put_number(event->begin + event->hole[i].at, size, event->hole[i].size, (char)event->hole[i].order);
  struct kymo_bplace_ place = reserve(log, size, event->is_cut);
  if (!place.at)
    return -1;
  if (size)
    memcpy(place.at, event->begin, size);
  kymo_bcommit_(place, place.at + size);
  return (int)size;
}
