// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/transport/own_heap_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/device_access.hpp"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

using tests::succeeded;

/// Performs one put, and cannot map the memory of later ones.
class TakesOnePut final : public transport::Transport {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "takes one put"; }
  [[nodiscard]] const transport::TransportLimits& limits() const noexcept override { return transport::no_limits; }
  base::Status serves(int) noexcept override { return {}; }
  base::Status put(int, const heap::HeapPosition&, const void*, std::size_t, transport::LocalMemory,
                   bool) noexcept override {
    if (has_put_) return base::fail_literal(EOPNOTSUPP, "cannot be mapped");
    has_put_ = is_pending_ = true;
    return {};
  }
  base::Status get(int, const heap::HeapPosition&, void*, std::size_t, transport::LocalMemory, bool) noexcept override {
    return {};
  }
  [[nodiscard]] bool is_pending(int) const noexcept override { return is_pending_; }
  base::Status complete(int) noexcept override {
    is_pending_ = false;
    return {};
  }

 private:
  bool has_put_ = false;
  bool is_pending_ = false;
};

TEST(OwnHeapMemory, StoresCompleteBeforeALaterCopy) {
  tests::run_shmem_job({.n_pes = 1}, [](Pe& pe) {
    auto* const object = tests::zeroed<char>(pe, 64);
    auto atomics = transport::Atomics::make(pe.device(), pe.connections().gpu_kernels());
    ASSERT_TRUE(atomics) << atomics.error().text();
    auto own_heap = transport::OwnHeapMemory::make(pe.device(), pe.heap(), **atomics);
    ASSERT_TRUE(own_heap) << own_heap.error().text();
    TakesOnePut bar1;
    (*own_heap)->use(bar1);
    const auto address = reinterpret_cast<std::uint64_t>(object);
    const std::uint64_t value = 5;
    ASSERT_TRUE(succeeded((*own_heap)->write(address, &value, sizeof value)));
    ASSERT_TRUE(bar1.is_pending(0));
    ASSERT_TRUE(succeeded((*own_heap)->write(address + 8, &value, sizeof value)));
    EXPECT_FALSE(bar1.is_pending(0)) << "the copy may be seen first";
    const auto bytes = tests::device_bytes(pe, object + 8, sizeof value);
    EXPECT_EQ(std::memcmp(bytes.data(), &value, sizeof value), 0);
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::core
