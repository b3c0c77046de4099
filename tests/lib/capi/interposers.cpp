// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "lib/capi/interposers.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>

namespace gdrkit::tests {
namespace {

thread_local bool is_counting = false;
thread_local CallCounts counts;

[[maybe_unused]] void note_allocation() noexcept {
  if (is_counting) ++counts.allocations;
}
[[maybe_unused]] void note_lock() noexcept {
  if (is_counting) ++counts.locks;
}

}  // namespace

void start_counting() noexcept {
  counts = {};
  is_counting = true;
}

CallCounts stop_counting() noexcept {
  is_counting = false;
  return counts;
}

}  // namespace gdrkit::tests

#if !GDRKIT_IS_SANITIZED  // sanitizers install their own allocator and locks

using gdrkit::tests::note_allocation;
using gdrkit::tests::note_lock;

#define EXPORTED extern "C" [[gnu::visibility("default")]]

// The C library's internal names of its allocator: dlsym allocates, so it cannot be used to find them.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

EXPORTED void* malloc(std::size_t size) {
  note_allocation();
  return __libc_malloc(size);
}
EXPORTED void* calloc(std::size_t count, std::size_t size) {
  note_allocation();
  return __libc_calloc(count, size);
}
EXPORTED void* realloc(void* old, std::size_t size) {
  note_allocation();
  return __libc_realloc(old, size);
}
EXPORTED void* memalign(std::size_t alignment, std::size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}
EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}
EXPORTED int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  note_allocation();
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? 12 : 0;
}
EXPORTED void free(void* memory) {
  note_allocation();
  __libc_free(memory);
}

#define COUNT_LOCK(name, type)                                                           \
  EXPORTED int name(type lock) {                                                         \
    static const auto next = reinterpret_cast<int (*)(type)>(::dlsym(RTLD_NEXT, #name)); \
    note_lock();                                                                         \
    return next(lock);                                                                   \
  }
COUNT_LOCK(pthread_mutex_lock, pthread_mutex_t*)
COUNT_LOCK(pthread_mutex_trylock, pthread_mutex_t*)
COUNT_LOCK(pthread_mutex_unlock, pthread_mutex_t*)
COUNT_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t*)
COUNT_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t*)
COUNT_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t*)
COUNT_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t*)
COUNT_LOCK(pthread_rwlock_unlock, pthread_rwlock_t*)
COUNT_LOCK(pthread_spin_lock, pthread_spinlock_t*)
COUNT_LOCK(pthread_spin_unlock, pthread_spinlock_t*)

#endif
