// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A library to preload before libgdrapi.so: it makes copies of one size slower, for tests of comparisons. SLOW_COPIES
// is SIZE:PERCENT:DIRECTION, such as 65536:200:to_device. The library times the first copies of that size. After each
// later copy, it runs a loop that takes PERCENT of their median. The loop counts its turns, so it reads no clock.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gdrapi.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t timed_copies = 50;
constexpr std::size_t timed_turns = 100000;

void spin(std::size_t turns) noexcept {
  for (std::size_t turn = 0; turn < turns; ++turn) asm volatile("" ::: "memory");
}

template <class Call>
double nanoseconds_of(const Call& call) {
  const auto begin = Clock::now();
  call();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

struct Slowdown {
  std::size_t size_bytes = 0;
  double percent = 0;
  char direction[16] = "";
  std::vector<double> times_ns;
  std::size_t turns = 0;

  Slowdown() {
    const char* const text = std::getenv("SLOW_COPIES");
    if (text == nullptr || std::sscanf(text, "%zu:%lf:%15s", &size_bytes, &percent, direction) != 3) {
      std::fprintf(stderr, "slow_copies: invalid SLOW_COPIES; use SIZE:PERCENT:DIRECTION\n");
      std::abort();
    }
  }

  void settle() {
    std::nth_element(times_ns.begin(), times_ns.begin() + timed_copies / 2, times_ns.end());
    double turns_ns = nanoseconds_of([] { spin(timed_turns); });
    for (int again = 0; again < 4; ++again) turns_ns = std::min(turns_ns, nanoseconds_of([] { spin(timed_turns); }));
    turns = static_cast<std::size_t>(times_ns[timed_copies / 2] * percent / 100 * timed_turns / turns_ns);
  }

  template <class Call>
  int after(const Call& copy, std::size_t size, const char* copy_direction) {
    if (size != size_bytes || std::strcmp(direction, copy_direction) != 0) return copy();
    int result = 0;
    if (times_ns.size() < timed_copies) {
      times_ns.push_back(nanoseconds_of([&] { result = copy(); }));
      if (times_ns.size() == timed_copies) settle();
      return result;
    }
    result = copy();
    spin(turns);
    return result;
  }
};

Slowdown& slowdown() {
  static Slowdown one;  // the benchmark copies in one thread
  return one;
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int gdr_copy_to_mapping(gdr_mh_t handle, void* target, const void* source, size_t size) {
  static const auto copy = real(&gdr_copy_to_mapping, "gdr_copy_to_mapping");
  return slowdown().after([&] { return copy(handle, target, source, size); }, size, "to_device");
}

int gdr_copy_from_mapping(gdr_mh_t handle, void* target, const void* source, size_t size) {
  static const auto copy = real(&gdr_copy_from_mapping, "gdr_copy_from_mapping");
  return slowdown().after([&] { return copy(handle, target, source, size); }, size, "from_device");
}

}  // extern "C"
#pragma GCC visibility pop
