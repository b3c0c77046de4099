// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory that the backend itself allocates: it can be pinned and mapped like any other, and the driver's copies access
// it.
#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "backend_conformance.hpp"
#include "driver/cuda.hpp"
#include "support/forked_child.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

using tests::first_difference;
using tests::make_pattern;
using tests::store_to_mapping;

std::unique_ptr<BackendBuffer> allocate_or_fail(Backend& backend, std::size_t size_bytes) {
  return tests::value_or_throw(backend.allocate(0, size_bytes));
}

/// Returns the bytes that the driver reads at `offset`.
std::vector<std::uint8_t> bytes_of(BackendBuffer& buffer, std::size_t offset, std::size_t size_bytes) {
  std::vector<std::uint8_t> bytes(size_bytes);
  EXPECT_TRUE(tests::succeeded(buffer.copy_to_host(offset, bytes.data(), size_bytes)));
  return bytes;
}

void expect_bytes(const std::vector<std::uint8_t>& found, const std::vector<std::uint8_t>& expected) {
  EXPECT_EQ(first_difference(found, expected), expected.size()) << "first differing byte";
}

TEST_P(BackendConformance, ABufferIsMappedAndReadByTheDriver) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{100'001}, std::size_t{3} << 20}) {
    SCOPED_TRACE(std::to_string(size) + " bytes");
    const auto buffer = allocate_or_fail(*backend_, size);
    ASSERT_EQ(buffer->size_bytes(), size);
    const auto range = pin_and_map(buffer->address(), size);
    store_to_mapping(range.user, make_pattern(size, 21));
    expect_bytes(bytes_of(*buffer, 0, size), make_pattern(size, 21));
    expect_on_device(buffer->address(), make_pattern(size, 21));
    const auto other = make_pattern(size, 22);
    ASSERT_TRUE(tests::succeeded(buffer->copy_from_host(0, other.data(), size)));
    expect_in_mapping(range.user, other);
  }
}

TEST_P(BackendConformance, ABuffersPartsAreCopiedByOffset) {
  constexpr std::size_t size = 300'000;
  const auto buffer = allocate_or_fail(*backend_, size);
  auto expected = make_pattern(size, 31);
  ASSERT_TRUE(tests::succeeded(buffer->copy_from_host(0, expected.data(), size)));
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{65'535}, size - 77}) {
    const auto part = make_pattern(77, offset);
    ASSERT_TRUE(tests::succeeded(buffer->copy_from_host(offset, part.data(), 77)));
    std::copy(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
    expect_bytes(bytes_of(*buffer, offset, 77), part);
  }
  expect_bytes(bytes_of(*buffer, 0, size), expected);
}

TEST_P(BackendConformance, RejectsBuffersOfMissingDevicesAndOfMoreThanAllMemory) {
  for (const int device : {-1, 4096, INT32_MIN, INT32_MAX}) {
    EXPECT_TRUE(tests::failed(backend_->allocate(device, 4096), ENODEV, testing::HasSubstr(std::to_string(device))))
        << device;
  }
  for (const std::size_t size : {std::size_t{1} << 50, SIZE_MAX / 2, SIZE_MAX}) {
    EXPECT_TRUE(tests::failed(backend_->allocate(0, size), ENOMEM)) << size;
  }
}

TEST_P(BackendConformance, FreedAndDestroyedBuffersReleaseEverything) {
  expect_nothing_left_by([&] {
    const auto destroyed = allocate_or_fail(*backend_, 100'000);
    const auto freed = allocate_or_fail(*backend_, 300'000);
    EXPECT_NE(destroyed->address(), freed->address());
    const auto byte = make_pattern(1, 1);
    EXPECT_TRUE(tests::succeeded(freed->copy_from_host(0, byte.data(), 1)));
    EXPECT_TRUE(tests::succeeded(freed->free()));
    EXPECT_EQ(freed->address(), 0u);
    EXPECT_FALSE(backend_->allocate(-1, 4096));
  });
}

TEST_P(BackendConformance, AFreedBufferCannotBePinned) {
  const auto buffer = allocate_or_fail(*backend_, std::size_t{8} << 20);
  const std::uint64_t address = buffer->address();
  (void)pin(address, 4096);
  ASSERT_TRUE(tests::succeeded(buffer->free()));
  EXPECT_TRUE(tests::failed(backend_->pin({address, 4096}), EINVAL));
}

TEST_P(BackendConformance, BuffersWorkInEveryThreadAndKeepItsContext) {
  const auto current_context = [] {
    void* context = nullptr;
    auto cuda = driver::cuda_calls();
    return cuda && (*cuda)->ctx_get_current(&context) == 0 ? context : nullptr;
  };
  void* const before = current_context();
  const auto use = [&] {
    void* const own = current_context();
    const auto buffer = allocate_or_fail(*backend_, 100'000);
    const auto pattern = make_pattern(100'000, 41);
    EXPECT_TRUE(tests::succeeded(buffer->copy_from_host(0, pattern.data(), pattern.size())));
    expect_bytes(bytes_of(*buffer, 0, pattern.size()), pattern);
    EXPECT_TRUE(tests::succeeded(buffer->free()));
    EXPECT_EQ(current_context(), own);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(use);
  use();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(current_context(), before);
}

TEST_P(BackendConformance, AForkedChildAbandonsABufferAndTheParentKeepsIt) {
  const auto buffer = allocate_or_fail(*backend_, 100'000);
  const auto pattern = make_pattern(100'000, 51);
  ASSERT_TRUE(tests::succeeded(buffer->copy_from_host(0, pattern.data(), pattern.size())));
  const auto end = tests::run_in_child([&] {
    buffer->abandon_after_fork();
    return buffer->free() ? 0 : 1;  // nothing to free in the child
  });
  EXPECT_EQ(end.exit_code, 0);
  expect_bytes(bytes_of(*buffer, 0, pattern.size()), pattern);
}

}  // namespace
}  // namespace gdrkit::backend
