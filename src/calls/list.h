/* SPDX-License-Identifier: MIT */
/*
 * The functions of libc that libkymo-calls replaces, each with its family and the name of its event (group
 * "libc"): the choices of kymo record --calls libc:FAMILY.
 * KYMO_LIBC_CALLS(X) is X(function, family, event) for each.
 */
#ifndef KYMO_CALLS_LIST_H
#define KYMO_CALLS_LIST_H

#define KYMO_LIBC_CALLS(X)  \
  KYMO_LIBC_MEMORY_CALLS(X) \
  KYMO_LIBC_FILE_CALLS(X)   \
  KYMO_LIBC_SOCKET_CALLS(X) \
  KYMO_LIBC_WAIT_CALLS(X)   \
  KYMO_LIBC_LOCK_CALLS(X)

#define KYMO_LIBC_MEMORY_CALLS(X)           \
  X(malloc, malloc, malloc)                 \
  X(calloc, malloc, calloc)                 \
  X(realloc, malloc, realloc)               \
  X(reallocarray, malloc, reallocarray)     \
  X(free, malloc, free)                     \
  X(posix_memalign, malloc, posix_memalign) \
  X(aligned_alloc, malloc, aligned_alloc)   \
  X(memalign, malloc, memalign)             \
  X(valloc, malloc, valloc)                 \
  X(pvalloc, malloc, pvalloc)               \
  X(malloc_usable_size, malloc, malloc_usable_size)

#define KYMO_LIBC_FILE_CALLS(X) \
  X(open, io, open)             \
  X(open64, io, open)           \
  X(__open_2, io, open)         \
  X(__open64_2, io, open)       \
  X(openat, io, openat)         \
  X(openat64, io, openat)       \
  X(__openat_2, io, openat)     \
  X(__openat64_2, io, openat)   \
  X(creat, io, creat)           \
  X(creat64, io, creat)         \
  X(close, io, close)           \
  X(read, io, read)             \
  X(__read_chk, io, read)       \
  X(write, io, write)           \
  X(pread, io, pread)           \
  X(pread64, io, pread)         \
  X(__pread_chk, io, pread)     \
  X(__pread64_chk, io, pread)   \
  X(pwrite, io, pwrite)         \
  X(pwrite64, io, pwrite)       \
  X(readv, io, readv)           \
  X(writev, io, writev)         \
  X(preadv, io, preadv)         \
  X(preadv64, io, preadv)       \
  X(pwritev, io, pwritev)       \
  X(pwritev64, io, pwritev)     \
  X(sendfile, io, sendfile)     \
  X(sendfile64, io, sendfile)   \
  X(fsync, io, fsync)           \
  X(fdatasync, io, fdatasync)

#define KYMO_LIBC_SOCKET_CALLS(X) \
  X(socket, io, socket)           \
  X(bind, io, bind)               \
  X(listen, io, listen)           \
  X(connect, io, connect)         \
  X(accept, io, accept)           \
  X(accept4, io, accept4)         \
  X(shutdown, io, shutdown)       \
  X(recv, io, recv)               \
  X(__recv_chk, io, recv)         \
  X(recvfrom, io, recvfrom)       \
  X(__recvfrom_chk, io, recvfrom) \
  X(recvmsg, io, recvmsg)         \
  X(recvmmsg, io, recvmmsg)       \
  X(send, io, send)               \
  X(sendto, io, sendto)           \
  X(sendmsg, io, sendmsg)         \
  X(sendmmsg, io, sendmmsg)

#define KYMO_LIBC_WAIT_CALLS(X) \
  X(poll, io, poll)             \
  X(__poll_chk, io, poll)       \
  X(ppoll, io, ppoll)           \
  X(__ppoll_chk, io, ppoll)     \
  X(select, io, select)         \
  X(pselect, io, pselect)       \
  X(epoll_wait, io, epoll_wait) \
  X(epoll_pwait, io, epoll_pwait)

#define KYMO_LIBC_LOCK_CALLS(X)                                   \
  X(pthread_mutex_lock, lock, pthread_mutex_lock)                 \
  X(pthread_mutex_trylock, lock, pthread_mutex_trylock)           \
  X(pthread_mutex_timedlock, lock, pthread_mutex_timedlock)       \
  X(pthread_mutex_clocklock, lock, pthread_mutex_clocklock)       \
  X(pthread_mutex_unlock, lock, pthread_mutex_unlock)             \
  X(pthread_rwlock_rdlock, lock, pthread_rwlock_rdlock)           \
  X(pthread_rwlock_tryrdlock, lock, pthread_rwlock_tryrdlock)     \
  X(pthread_rwlock_timedrdlock, lock, pthread_rwlock_timedrdlock) \
  X(pthread_rwlock_clockrdlock, lock, pthread_rwlock_clockrdlock) \
  X(pthread_rwlock_wrlock, lock, pthread_rwlock_wrlock)           \
  X(pthread_rwlock_trywrlock, lock, pthread_rwlock_trywrlock)     \
  X(pthread_rwlock_timedwrlock, lock, pthread_rwlock_timedwrlock) \
  X(pthread_rwlock_clockwrlock, lock, pthread_rwlock_clockwrlock) \
  X(pthread_rwlock_unlock, lock, pthread_rwlock_unlock)           \
  X(pthread_cond_wait, lock, pthread_cond_wait)                   \
  X(pthread_cond_timedwait, lock, pthread_cond_timedwait)         \
  X(pthread_cond_clockwait, lock, pthread_cond_clockwait)         \
  X(pthread_cond_signal, lock, pthread_cond_signal)               \
  X(pthread_cond_broadcast, lock, pthread_cond_broadcast)

#endif
