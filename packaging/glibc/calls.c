/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Functions and data that glibc got after 2.28 and that libstdc++.a or gdrkit use. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 2.32: if false, std::shared_ptr always counts by atomic operations. */
char __libc_single_threaded = 0;

/* 2.33: earlier versions have macros over __xstat. On 64-bit machines struct stat has the layout of the system call. */
_Static_assert(sizeof(void*) == 8, "requires a 64-bit machine");
int fstatat(int directory, const char* restrict path, struct stat* restrict result, int flags) {
  return (int)syscall(SYS_newfstatat, directory, path, result, flags);
}
int stat(const char* restrict path, struct stat* restrict result) { return fstatat(AT_FDCWD, path, result, 0); }
int lstat(const char* restrict path, struct stat* restrict result) {
  return fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* result) { return (int)syscall(SYS_fstat, file, result); }
int fstatat64(int, const char* restrict, struct stat64* restrict, int) __attribute__((alias("fstatat")));
int stat64(const char* restrict, struct stat64* restrict) __attribute__((alias("stat")));
int lstat64(const char* restrict, struct stat64* restrict) __attribute__((alias("lstat")));
int fstat64(int, struct stat64*) __attribute__((alias("fstat")));

/* 2.36: std::random_device. */
uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
  }
  return value;
}

/* 2.32. */
const char* strerrordesc_np(int error) { return strerror(error); }

/* 2.30: waits of std::condition_variable and std::timed_mutex on a steady clock. If glibc lacks them, they wait for
 * the same time on the system clock, as libstdc++ did. Both callers check their own clock afterwards. */
static struct timespec by_system_clock(clockid_t clock, const struct timespec* end) {
  struct timespec now, result;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &result);
  result.tv_sec += end->tv_sec - now.tv_sec;
  result.tv_nsec += end->tv_nsec - now.tv_nsec;
  if (result.tv_nsec < 0) {
    result.tv_nsec += 1000000000;
    --result.tv_sec;
  } else if (result.tv_nsec >= 1000000000) {
    result.tv_nsec -= 1000000000;
    ++result.tv_sec;
  }
  return result;
}

typedef int cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
typedef int mutex_clocklock(pthread_mutex_t*, clockid_t, const struct timespec*);
static cond_clockwait* cond_clockwait_of_libc;
static mutex_clocklock* mutex_clocklock_of_libc;

/* Called once, by the loading thread: dlsym takes the loader's lock, which dlopen and dlclose hold while constructors
 * and destructors run, and these may wait for a thread that waits here. Runs before the constructors of C++. */
__attribute__((constructor(101))) static void find_in_libc(void) {
  cond_clockwait_of_libc = (cond_clockwait*)dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  mutex_clocklock_of_libc = (mutex_clocklock*)dlsym(RTLD_NEXT, "pthread_mutex_clocklock");
  (void)dlerror(); /* clears the error, which the program may read after its own calls */
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* end) {
  if (cond_clockwait_of_libc != NULL) return cond_clockwait_of_libc(condition, mutex, clock, end);
  const struct timespec system_end = by_system_clock(clock, end);
  return pthread_cond_timedwait(condition, mutex, &system_end);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* end) {
  if (mutex_clocklock_of_libc != NULL) return mutex_clocklock_of_libc(mutex, clock, end);
  const struct timespec system_end = by_system_clock(clock, end);
  return pthread_mutex_timedlock(mutex, &system_end);
}
