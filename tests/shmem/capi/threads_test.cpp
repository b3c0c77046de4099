// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Calls of the C API in several threads of a process with one PE, which none of them has bound.
#include <gdrkit/shmem.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "support/run_together.hpp"
#include "tests/shmem/capi/one_pe.hpp"

namespace {

constexpr std::size_t thread_count = 4;
constexpr std::size_t part_bytes = 100'000;
constexpr std::size_t sizes[] = {8, 200, 1024, 5000, 40'000};

/// Puts to the thread's part, reads it back, and compares. Returns the first fault, or "".
std::string run_thread(std::uint8_t* part, std::uint8_t number) {
  std::vector<std::uint8_t> sent;
  std::vector<std::uint8_t> got;
  for (unsigned round = 0; round < 50; ++round) {
    const std::size_t size = sizes[round % std::size(sizes)];
    std::uint8_t* const target = part + round * 64 % (part_bytes - size);
    sent.assign(size, static_cast<std::uint8_t>(round * thread_count + number));
    got.assign(size, 0);
    const int put = round % 2 == 0 ? gdrkit_shmem_put(target, sent.data(), size, 0)
                                   : gdrkit_shmem_put_nbi(target, sent.data(), size, 0);
    if (put != 0 || gdrkit_shmem_quiet() != 0 || gdrkit_shmem_get(got.data(), target, size, 0) != 0) {
      return std::string("round ") + std::to_string(round) + ": " + gdrkit_shmem_last_error();
    }
    if (got != sent) return "round " + std::to_string(round) + ": other bytes than were put";
    // The message of a failure belongs to the thread: the PE number identifies it.
    if (gdrkit_shmem_put(target, sent.data(), size, 100 + number) != -EINVAL) return "a put to no PE did not fail";
    if (std::string(gdrkit_shmem_last_error()).find("PE " + std::to_string(100 + number)) == std::string::npos) {
      return std::string("the message of another thread: ") + gdrkit_shmem_last_error();
    }
  }
  return "";
}

using Threads = gdrkit::tests::OnePe;

TEST_F(Threads, TransferConcurrentlyWithSeparateErrorMessages) {
  std::uint8_t* parts = nullptr;
  ASSERT_EQ(gdrkit_shmem_uint8_calloc(thread_count * part_bytes, &parts), 0) << gdrkit_shmem_last_error();
  std::vector<std::string> faults(thread_count);
  gdrkit::tests::run_together(thread_count, [&](std::size_t number) {
    faults[number] = run_thread(parts + number * part_bytes, static_cast<std::uint8_t>(number));
  });
  EXPECT_THAT(faults, ::testing::Each(std::string()));
}

}  // namespace
