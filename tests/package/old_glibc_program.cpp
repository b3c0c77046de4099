// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Uses functions that are newer than glibc 2.28 and that packaging/glibc provides: constructors of the program,
// exceptions, timed waits, file sizes, a random device, shared pointers, error texts, numbers. Exit code: the number of
// the first check that failed.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace {

struct Constructed {
  int value;
  Constructed() : value(std::atoi("42")) {}
};
Constructed constructed;

bool throws_through(int depth) {
  if (depth == 0) throw std::runtime_error("thrown");
  return throws_through(depth - 1);
}

bool is_caught() {
  try {
    return !throws_through(10);
  } catch (const std::exception& error) {
    return std::strcmp(error.what(), "thrown") == 0;
  }
}

bool is_caught_in_thread() {
  bool caught = false;
  std::thread([&] { caught = is_caught(); }).join();
  return caught;
}

bool wait_ends_in_time() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  if (condition.wait_for(lock, std::chrono::milliseconds(30), [] { return false; })) return false;
  const auto waited = std::chrono::steady_clock::now() - begin;
  return waited >= std::chrono::milliseconds(30) && waited < std::chrono::seconds(20);
}

bool lock_is_refused_in_time() {
  std::timed_mutex mutex;
  const std::lock_guard lock(mutex);
  bool locked = true;
  std::thread([&] { locked = mutex.try_lock_for(std::chrono::milliseconds(30)); }).join();
  return !locked;
}

bool file_is_seen(const char* program) {
  std::error_code error;
  const bool is_missing = !std::filesystem::exists("/no/such/file", error);
  return std::filesystem::file_size(program) > 1000 && std::filesystem::is_directory("/") && is_missing;
}

bool random_numbers_differ() {
  std::random_device device;
  return device() != device() || device() != device();
}

}  // namespace

int main(int, char** arguments) {
  const auto shared = std::make_shared<int>(1);
  const bool checks[] = {constructed.value == 42,
                         is_caught(),
                         is_caught_in_thread(),
                         wait_ends_in_time(),
                         lock_is_refused_in_time(),
                         file_is_seen(arguments[0]),
                         random_numbers_differ(),
                         std::shared_ptr<int>(shared).use_count() == 2,
                         std::strcmp(strerrordesc_np(2), "No such file or directory") == 0,
                         std::strtoul("0x10", nullptr, 0) == 16};
  int number = 0;
  for (const bool is_right : checks) {
    ++number;
    if (!is_right) {
      std::printf("check %d failed\n", number);
      return number;
    }
  }
  std::puts("all checks passed");
  return 0;
}
