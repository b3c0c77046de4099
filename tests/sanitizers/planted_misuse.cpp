// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Performs an error that a sanitizer must report, or its correct counterpart. The argument selects it. Exits with 0
// unless stopped.
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

namespace {

int counter = 0;
std::mutex counter_mutex;

/// Two threads increment one variable. Without the lock nothing orders the second increment after the first, regardless
/// of the order in which they run.
void count_in_two_threads(bool is_locked) {
  const auto increment = [is_locked] {
    std::unique_lock lock(counter_mutex, std::defer_lock);
    if (is_locked) lock.lock();
    ++counter;
  };
  std::thread first(increment);
  std::thread second(increment);
  first.join();
  second.join();
}

int read_past_end(std::size_t size) {
  const std::unique_ptr<volatile int[]> array(new volatile int[size]());
  return array[size];
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "race") == 0) {
    count_in_two_threads(false);
  } else if (std::strcmp(what, "locked") == 0) {
    count_in_two_threads(true);
  } else if (std::strcmp(what, "overflow") == 0) {
    std::printf("%d\n", read_past_end(static_cast<std::size_t>(argc)));
  } else if (std::strcmp(what, "undefined") == 0) {
    volatile int largest = std::numeric_limits<int>::max();
    std::printf("%d\n", largest + argc);
  } else {
    return 2;
  }
  return 0;
}
