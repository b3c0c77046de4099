// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/host_range.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace gdrkit::shmem_impl::parts {
namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // 0: not known

  [[nodiscard]] bool holds(std::uintptr_t at, std::size_t size_bytes) const noexcept {
    return at >= begin && at < end && size_bytes <= end - at;
  }
};

Range find_stack() noexcept {
  Range stack;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return stack;
  void* lowest = nullptr;
  std::size_t size_bytes = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &size_bytes) == 0) {
    stack.begin = reinterpret_cast<std::uintptr_t>(lowest);
    stack.end = stack.begin + size_bytes;
  }
  (void)::pthread_attr_destroy(&attributes);
  return stack;
}

/// Returns the start of the heap of brk(2): field 47 of stat in proc(5), counted after the name, which may contain
/// spaces. 0: unknown.
std::uintptr_t find_brk_begin() noexcept {
  std::FILE* const file = std::fopen("/proc/self/stat", "re");
  if (file == nullptr) return 0;
  char text[2048];
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  (void)std::fclose(file);
  text[length] = '\0';
  const char* at = text;
  for (const char* place = text; *place != '\0'; ++place) {
    if (*place == ')') at = place + 1;
  }
  constexpr int fields_between = 47 - 3;
  for (int skipped = 0; *at != '\0'; ++at) {
    if (*at != ' ' || skipped++ < fields_between) continue;
    unsigned long long begin = 0;
    return std::sscanf(at, "%llu", &begin) == 1 ? static_cast<std::uintptr_t>(begin) : 0;
  }
  return 0;
}

/// Returns the end of the heap of brk(2) from glibc's variable. 0: unknown.
///
/// sbrk(0) is not usable. UCX replaces sbrk by a function that reads this variable and then passes the value to the
/// system call, also for an increment of 0. If malloc in another thread enlarges the heap between the two steps, that
/// call shrinks the heap again, and memory that malloc uses is unmapped.
std::uintptr_t brk_end() noexcept {
  static auto* const variable = static_cast<std::uintptr_t*>(::dlsym(RTLD_DEFAULT, "__curbrk"));
  return variable == nullptr ? 0 : std::atomic_ref(*variable).load(std::memory_order_relaxed);
}

/// The program's own variables: its writable segments, which stay for as long as it runs. A program has one or two.
struct Segments {
  Range ranges[4];

  [[nodiscard]] bool hold(std::uintptr_t at, std::size_t size_bytes) const noexcept {
    for (const Range& range : ranges) {
      if (range.holds(at, size_bytes)) return true;
    }
    return false;
  }
};

Segments find_segments() noexcept {
  Segments segments;
  const auto* const headers = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
  const std::size_t count = headers == nullptr ? 0 : ::getauxval(AT_PHNUM);
  std::uintptr_t moved = 0;  // distance from the address in the file to the actual address
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_PHDR) moved = reinterpret_cast<std::uintptr_t>(headers) - headers[i].p_vaddr;
  }
  std::size_t found = 0;
  for (std::size_t i = 0; i < count && found < std::size(segments.ranges); ++i) {
    if (headers[i].p_type != PT_LOAD || (headers[i].p_flags & PF_W) == 0) continue;
    const std::uintptr_t begin = headers[i].p_vaddr + moved;
    segments.ranges[found++] = {begin, begin + headers[i].p_memsz};
  }
  return segments;
}

}  // namespace

bool is_surely_host(const void* address, std::size_t size_bytes) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  thread_local const Range stack = find_stack();
  // A fiber has a separate stack, whose address does not describe the thread's stack.
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (stack.holds(frame, 1) && Range{frame, stack.end}.holds(at, size_bytes)) return true;
  static const Segments segments = find_segments();
  if (segments.hold(at, size_bytes)) return true;
  static const std::uintptr_t brk_begin = find_brk_begin();
  return brk_begin != 0 && Range{brk_begin, brk_end()}.holds(at, size_bytes);
}

}  // namespace gdrkit::shmem_impl::parts
