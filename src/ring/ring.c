/* SPDX-License-Identifier: MIT */
/*
 * Copies packets out of rings, without the writer's help and without blocking it.
 *
 * A packet's control entry works as a sequence lock: read `sequence`, copy, read it again; the writer stores
 * 0 there before it reuses the packet. The public word is the fill level of the open packet; it belongs to
 * that packet as long as the entry's `closed` is 0 after the word was read, since the writer sets `closed`
 * before it moves the word to the next packet.
 */
#include "ring/ring.h"
#include "base/fail.h"
#include "base/guard.h"
#include "base/path.h"
#include "base/tsan.h"
#include "ring/life.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_power_of_two(uint32_t n) { return n && !(n & (n - 1)); }

int kymo_pool_check(struct kymo_pool_view *view, const void *mapping, uint64_t size, const char *name,
                    struct kymo_error *error) {
  const struct kymo_pool_header *h = mapping;
  memset(view, 0, sizeof *view);
  if (size < sizeof *h)
    return kymo_fail_at(error, KYMO_E_FORMAT, name, 0, "expected a pool of rings, found %llu bytes",
                        (unsigned long long)size);
  if (h->magic != KYMO_POOL_MAGIC)
    return kymo_fail_at(error, KYMO_E_FORMAT, name, 0,
                        h->magic == __builtin_bswap64(KYMO_POOL_MAGIC)
                            ? "these rings were written by a machine of the other byte order; save them there"
                            : "expected the magic of a pool of rings, found 0x%016llx",
                        (unsigned long long)h->magic);
  if (h->version != KYMO_POOL_VERSION)
    return kymo_fail_at(error, KYMO_E_FORMAT, name, 8, "expected version %u of the pool, found %u",
                        KYMO_POOL_VERSION, h->version);
  *view = (struct kymo_pool_view){h,
                                  size,
                                  h->slots,
                                  h->packets,
                                  h->alternate_packets,
                                  h->packet_size,
                                  h->control_size,
                                  h->header_size,
                                  h->slot_size,
                                  false,
                                  false,
                                  -1,
                                  false,
                                  -1,
                                  NULL};
  uint64_t control = sizeof(struct kymo_slot_control) +
                     ((uint64_t)view->packets + view->alternate_packets) * sizeof(struct kymo_packet_control);
  bool sound = is_power_of_two(view->packets) && is_power_of_two(view->alternate_packets) &&
               view->packets <= 1u << 20 && view->alternate_packets <= 1u << 20 &&
               view->packet_size >= 1024 && view->packet_size <= KYMO_PACKET_SIZE_MAX &&
               view->packet_size % 8 == 0 && view->slots >= 1 && view->slots <= 1u << 20 &&
               view->header_size >= sizeof *h && view->header_size % 64 == 0 &&
               view->control_size % 64 == 0 && view->control_size >= control && view->slot_size % 64 == 0;
  uint64_t rings = ((uint64_t)view->packets + view->alternate_packets) * view->packet_size;
  if (!sound || view->slot_size < view->control_size || view->slot_size - view->control_size < rings ||
      view->header_size > size || (size - view->header_size) / view->slots < view->slot_size)
    return kymo_fail_at(error, KYMO_E_FORMAT, name, 16,
                        "the sizes in the pool's header contradict each other");
  return KYMO_OK;
}

/* Opens the pool file and returns its length. The type is checked before it is opened: a FIFO would block. */
static int open_file(const char *path, bool writable, uint64_t *size, struct kymo_error *error) {
  struct stat st;
  int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
  int status = fd < 0 ? kymo_fail_errno(error, path, "cannot open") : KYMO_OK;
  if (!status && fstat(fd, &st))
    status = kymo_fail_errno(error, path, "cannot stat");
  else if (!status && !S_ISREG(st.st_mode))
    status =
        kymo_fail_at(error, KYMO_E_FORMAT, path, 0, "expected a pool of rings, found what is not a file");
  else if (!status && !st.st_size)
    status = kymo_fail_at(error, KYMO_E_FORMAT, path, 0, "expected a pool of rings, found an empty file");
  if (!status) {
    *size = (uint64_t)st.st_size;
    return fd;
  }
  if (fd >= 0)
    close(fd);
  return status;
}

int kymo_pool_verify(const struct kymo_pool_view *view, const char *directory, struct kymo_error *error) {
  char path[4096];
  size_t missing = kymo_guard_missing(view->guard);
  if (missing == SIZE_MAX)
    return KYMO_OK;
  kymo_path_join(path, sizeof path, directory, KYMO_POOL_FILE);
  return kymo_fail_at(error, KYMO_E_FORMAT, path, missing,
                      "the file was cut while it was read, or cannot be read here");
}

int kymo_pool_open(struct kymo_pool_view *view, const char *directory, bool writable,
                   struct kymo_error *error) {
  char path[4096];
  uint64_t size = 0;
  memset(view, 0, sizeof *view);
  if (!kymo_path_join(path, sizeof path, directory, KYMO_POOL_FILE))
    return kymo_fail(error, KYMO_E_USAGE, "the path is too long: %s", directory);
  int fd = open_file(path, writable, &size, error);
  if (fd < 0)
    return fd;
  int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  void *map = mmap(NULL, (size_t)size, protection, MAP_SHARED, fd, 0);
  struct kymo_guard *guard = map == MAP_FAILED ? NULL : kymo_guard_begin(map, (size_t)size, protection);
  int status = map == MAP_FAILED ? kymo_fail_errno(error, path, "cannot map")
               : !guard          ? kymo_fail(error, KYMO_E_MEMORY, "out of memory")
                                 : kymo_pool_check(view, map, size, path, error);
  view->guard = guard;
  if (!status)
    status = kymo_pool_verify(view, directory, error);
  if (status)
    kymo_guard_end(guard);
  if (status && map != MAP_FAILED)
    munmap(map, (size_t)size);
  if (status)
    memset(view, 0, sizeof *view);
  view->mapped = !status;
  view->keeps_file =
      !status && view->header->is_locked && view->header->pid_namespace != kymo_pid_namespace();
  view->file = fd;
  if (!view->keeps_file)
    close(fd);
  return status;
}

/* Locks the whole file, for the open file and not for the process: closing another descriptor does not
 * release it. */
static const struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

static int open_to_lock(const char *directory) {
  char path[4096];
  return kymo_path_join(path, sizeof path, directory, KYMO_POOL_FILE)
             ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
             : -1;
}

int32_t kymo_pool_reader(const struct kymo_pool_header *header, const char *directory) {
  struct flock lock = whole_file;
  int fd = open_to_lock(directory);
  bool is_locked = fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
  if (fd >= 0)
    close(fd);
  return is_locked ? __atomic_load_n(&header->reader, __ATOMIC_RELAXED) : 0;
}

int kymo_pool_lock(struct kymo_pool_view *view, const char *directory, struct kymo_error *error) {
  struct flock lock = whole_file;
  int fd = open_to_lock(directory);
  if (fd < 0)
    return kymo_fail_errno(error, directory, "cannot open the rings");
  if (fcntl(fd, F_OFD_SETLK, &lock)) {
    bool taken = errno == EAGAIN || errno == EACCES;
    int status = taken
                     ? kymo_fail(error, KYMO_E_USAGE, "process %d is being recorded by process %d",
                                 view->header->pid, __atomic_load_n(&view->header->reader, __ATOMIC_RELAXED))
                     : kymo_fail_errno(error, directory, "cannot lock the rings");
    close(fd);
    return status;
  }
  struct kymo_pool_header *header = (struct kymo_pool_header *)(uintptr_t)view->header;
  __atomic_store_n(&header->reader, getpid(), __ATOMIC_RELAXED); /* partner: kymo_pool_reader */
  view->lock = fd;
  view->locked = true;
  return KYMO_OK;
}

void kymo_pool_close(struct kymo_pool_view *view) {
  if (view->locked)
    close(view->lock);
  if (view->keeps_file)
    close(view->file);
  kymo_guard_end(view->guard);
  if (view->mapped)
    munmap((void *)(uintptr_t)view->header, view->size);
  memset(view, 0, sizeof *view);
}

uint32_t kymo_pool_slots(const struct kymo_pool_view *view) {
  uint32_t used = __atomic_load_n(&view->header->slots_used, __ATOMIC_ACQUIRE); /* partner: claim_slot */
  return used < view->slots ? used : view->slots;
}

/* From /proc/PID/stat: state is field 3, the number of threads 20, the start time 22. A process that has
 * ended and was not waited for is a zombie; a process of which only the first thread has ended also shows as
 * one, but with threads left. */
bool kymo_process_start_time(int pid, uint64_t *out) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  *out = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0)
    return false;
  text[n] = 0;
  char *at = strrchr(text, ')'); /* the name may contain anything */
  bool zombie = at && at[1] == ' ' && at[2] == 'Z';
  for (int field = 2; at && field < 20; field++)
    at = strchr(at + 1, ' ');
  if (at && zombie && strtol(at + 1, NULL, 10) <= 1)
    return true;
  for (int field = 20; at && field < 22; field++)
    at = strchr(at + 1, ' ');
  if (at)
    *out = strtoull(at + 1, NULL, 10);
  return at;
}

const char *kymo_pool_program(const struct kymo_pool_view *view, char out[KYMO_PROGRAM_MAX]) {
  size_t length = 0;
  for (; length < sizeof view->header->name && view->header->name[length]; length++)
    out[length] = view->header->name[length] == '/' ? '_' : view->header->name[length];
  out[length] = 0;
  if (!length)
    memcpy(out, "program", sizeof "program");
  return out;
}

enum kymo_life kymo_pool_life(const struct kymo_pool_view *view) {
  uint64_t here = kymo_pid_namespace();
  if (view->keeps_file)
    return kymo_life_by_lock(view->file);
  return here && view->header->pid_namespace != here ? KYMO_LIFE_UNKNOWN : kymo_life_by_pid(view->header);
}

bool kymo_pool_is_alive(const struct kymo_pool_view *view) {
  return (view->keeps_file ? kymo_life_by_lock(view->file) : kymo_life_by_pid(view->header)) !=
         KYMO_LIFE_DEAD;
}

struct kymo_ring_view kymo_pool_ring(const struct kymo_pool_view *view, uint32_t slot, uint32_t alternate) {
  uint8_t *base = (uint8_t *)(uintptr_t)view->header + view->header_size + slot * view->slot_size;
  struct kymo_slot_control *control = (struct kymo_slot_control *)(void *)base;
  return (struct kymo_ring_view){
      .pool = view,
      .control = &control->ring[alternate],
      .packet = control->packet + (alternate ? view->packets : 0),
      .data = base + view->control_size + (alternate ? (uint64_t)view->packets * view->packet_size : 0),
      .packets = alternate ? view->alternate_packets : view->packets,
      .instance = (uint64_t)slot * 2 + alternate,
  };
}

void kymo_ring_range(const struct kymo_ring_view *ring, uint64_t *first, uint64_t *end) {
  *end = __atomic_load_n(&ring->control->opened, __ATOMIC_ACQUIRE); /* partner: open_packet */
  *first = *end > ring->packets ? *end - ring->packets : 0;
}

uint64_t kymo_ring_word(const struct kymo_ring_view *ring, uint64_t number) {
  uint64_t word = __atomic_load_n(&ring->control->shared.word, __ATOMIC_ACQUIRE); /* partner: kymo_commit_ */
  uint64_t closed = __atomic_load_n(&ring->packet[number & (ring->packets - 1)].closed,
                                    __ATOMIC_ACQUIRE); /* partner: close_packet */
  return closed ? closed : word;
}

/* Writes the CTF packet header and context at the begin of a copied packet. */
static void finish_header(const struct kymo_ring_view *ring, const struct kymo_packet_control *packet,
                          uint64_t word, uint8_t *out, uint32_t bytes) {
  struct kymo_packet_header h = {
      .magic = KYMO_CTF_MAGIC,
      .stream_instance_id = ring->instance,
      .timestamp_begin = packet->begin,
      .timestamp_end = packet->end,
      .content_size = (uint64_t)(uint16_t)word * 8,
      .packet_size = (uint64_t)bytes * 8,
      .packet_seq_num = packet->sequence, /* the packet's number + 1: number 0 is the empty packet before
                                           * it */
      .events_discarded = packet->discarded,
      .first_event = packet->first_event,
      .event_count = (uint32_t)((word >> 16) - packet->first_event),
      .discarded_large = packet->discarded_large,
      .discarded_nested = packet->discarded_nested,
      .tid = packet->tid,
  };
  memcpy(h.uuid, ring->pool->header->uuid, sizeof h.uuid);
  memcpy(h.thread_name, packet->thread_name, sizeof h.thread_name);
  memcpy(out, &h, sizeof h);
}

enum kymo_copy kymo_ring_copy(const struct kymo_ring_view *ring, uint64_t number, uint8_t *out,
                              uint32_t *bytes) {
  uint64_t index = number & (ring->packets - 1);
  const struct kymo_packet_control *shared = &ring->packet[index];
  struct kymo_packet_control packet;
  /* partner: open_packet, which stores the sequence last */
  if (__atomic_load_n(&shared->sequence, __ATOMIC_ACQUIRE) != number + 1)
    return KYMO_COPY_GONE;
  uint64_t word = __atomic_load_n(&ring->control->shared.word, __ATOMIC_ACQUIRE); /* partner: kymo_commit_ */
  uint64_t last = __atomic_load_n(&ring->control->shared.last, __ATOMIC_RELAXED);
  uint64_t closed = __atomic_load_n(&shared->closed, __ATOMIC_ACQUIRE); /* partner: close_packet */
  kymo_tsan_racy_begin();
  memcpy(&packet, shared, sizeof packet);
  if (closed)
    word = closed;
  else {
    packet.end = last;
    packet.discarded = __atomic_load_n(&ring->control->discarded, __ATOMIC_RELAXED);
    packet.discarded_large = (uint32_t)__atomic_load_n(&ring->control->discarded_large, __ATOMIC_RELAXED);
    packet.discarded_nested = (uint32_t)__atomic_load_n(&ring->control->discarded_nested, __ATOMIC_RELAXED);
  }
  packet.sequence = number + 1;
  uint32_t content = (uint16_t)word;
  if (content < KYMO_PACKET_HEADER_SIZE || content > ring->pool->packet_size) {
    kymo_tsan_racy_end();
    return KYMO_COPY_GONE;
  }
  *bytes = (content + 7) & ~7u;
  memcpy(out + KYMO_PACKET_HEADER_SIZE,
         ring->data + index * ring->pool->packet_size + KYMO_PACKET_HEADER_SIZE,
         content - KYMO_PACKET_HEADER_SIZE);
  kymo_tsan_racy_end();
  memset(out + content, 0, *bytes - content);
  __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the copy happens before the second check */
  if (__atomic_load_n(&shared->sequence, __ATOMIC_RELAXED) != number + 1)
    return KYMO_COPY_GONE;
  size_t data_at =
      (size_t)(ring->data - (const uint8_t *)ring->pool->header) + index * ring->pool->packet_size;
  if (ring->pool->guard && data_at + content > kymo_guard_missing(ring->pool->guard))
    return KYMO_COPY_GONE;
  if (packet.end < packet.begin)
    packet.end = packet.begin; /* opened, and nothing published yet */
  finish_header(ring, &packet, word, out, *bytes);
  return closed ? KYMO_COPY_OK : KYMO_COPY_OPEN;
}

void kymo_ring_cut(uint8_t *packet, uint64_t word, uint32_t *bytes) {
  struct kymo_packet_header h;
  uint32_t content = (uint16_t)word;
  memcpy(&h, packet, sizeof h);
  if (content < sizeof h || content >= h.content_size / 8)
    return;
  *bytes = (content + 7) & ~7u;
  memset(packet + content, 0, *bytes - content);
  h.content_size = (uint64_t)content * 8;
  h.packet_size = (uint64_t)*bytes * 8;
  h.event_count = (uint32_t)((word >> 16) - h.first_event);
  memcpy(packet, &h, sizeof h);
}

/* The 48 bits of the clock in an event header, as kymo_put_header_ stores them. */
static uint64_t event_time(const uint8_t *event) {
  const uint64_t mask = (UINT64_C(1) << 48) - 1;
  uint64_t header;
  memcpy(&header, event, sizeof header);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return header >> 16 & mask;
#else
  return header & mask;
#endif
}

void kymo_ring_cut_front(uint8_t *packet, uint64_t word, uint32_t *bytes) {
  struct kymo_packet_header h;
  memcpy(&h, packet, sizeof h);
  uint64_t content = h.content_size / 8, before = (word >> 16) - h.first_event;
  uint32_t at = ((uint32_t)(uint16_t)word + 7) & ~7u; /* where the next event begins */
  if (at <= sizeof h || before > h.event_count)
    return;
  uint32_t cut = (at < content ? at : (uint32_t)content) - (uint32_t)sizeof h;
  if (at + 8 <= content)
    h.timestamp_begin += (event_time(packet + at) - h.timestamp_begin) & ((UINT64_C(1) << 48) - 1);
  else
    h.timestamp_begin = h.timestamp_end;
  memmove(packet + sizeof h, packet + sizeof h + cut, content - sizeof h - cut);
  content -= cut;
  *bytes = (uint32_t)(content + 7) & ~7u;
  memset(packet + content, 0, *bytes - content);
  h.content_size = content * 8;
  h.packet_size = (uint64_t)*bytes * 8;
  h.first_event += before;
  h.event_count -= (uint32_t)before;
  memcpy(packet, &h, sizeof h);
}

void kymo_ring_empty(uint8_t *out, const struct kymo_packet_header *like, uint64_t sequence, uint64_t time,
                     uint64_t discarded) {
  struct kymo_packet_header h = *like;
  h.timestamp_begin = h.timestamp_end = time;
  h.content_size = h.packet_size = KYMO_PACKET_HEADER_SIZE * 8;
  h.packet_seq_num = sequence;
  h.events_discarded = discarded;
  h.event_count = 0;
  memcpy(out, &h, sizeof h);
}

struct kymo_packet_header kymo_ring_header(const struct kymo_ring_view *ring) {
  struct kymo_packet_header h = {
      .magic = KYMO_CTF_MAGIC,
      .stream_instance_id = ring->instance,
      .timestamp_begin = ring->pool->header->start_clock,
      .timestamp_end = ring->pool->header->start_clock,
      .discarded_large = (uint32_t)__atomic_load_n(&ring->control->discarded_large, __ATOMIC_RELAXED),
      .discarded_nested = (uint32_t)__atomic_load_n(&ring->control->discarded_nested, __ATOMIC_RELAXED),
  };
  memcpy(h.uuid, ring->pool->header->uuid, sizeof h.uuid);
  return h;
}

uint64_t kymo_ring_discarded_before(const struct kymo_ring_view *ring,
                                    const struct kymo_packet_header *packet) {
  uint64_t number = packet->packet_seq_num - 1;
  if (!number)
    return 0;
  uint64_t before =
      __atomic_load_n(&ring->packet[number & (ring->packets - 1)].discarded_before, __ATOMIC_RELAXED);
  return before < packet->events_discarded ? before : packet->events_discarded;
}

uint64_t kymo_ring_discarded(const struct kymo_ring_view *ring) {
  return __atomic_load_n(&ring->control->discarded, __ATOMIC_RELAXED);
}

void kymo_ring_release(const struct kymo_ring_view *ring, uint64_t end) {
  /* release: the copies happen before the writer reuses the packets; partner: open_packet */
  __atomic_store_n(&ring->control->consumed, end, __ATOMIC_RELEASE);
}
