// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/parts/put_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/results.hpp"

namespace gdrkit::shmem_impl::parts {
namespace {

using tests::succeeded;

/// Transfers nothing, and records the calls.
class Recorder final : public transport::Transport {
 public:
  Recorder(const char* name, std::string* calls) : name_(name), calls_(*calls) {}
  [[nodiscard]] const char* name() const noexcept override { return name_; }
  [[nodiscard]] const transport::TransportLimits& limits() const noexcept override { return transport::no_limits; }
  base::Status serves(int) noexcept override { return {}; }
  base::Status put(int, const heap::HeapPosition&, const void*, std::size_t, transport::LocalMemory,
                   bool) noexcept override {
    is_pending_ = true;
    return note("puts");
  }
  base::Status get(int, const heap::HeapPosition&, void*, std::size_t, transport::LocalMemory, bool) noexcept override {
    return {};
  }
  base::Status order(int) noexcept override { return note("orders"); }
  [[nodiscard]] bool is_pending(int) const noexcept override { return is_pending_; }
  base::Status complete(int) noexcept override {
    is_pending_ = false;
    return note("completes");
  }

 private:
  base::Status note(const char* call) {
    calls_ += std::string(calls_.empty() ? "" : ", ") + name_ + " " + call;
    return {};
  }
  const char* const name_;
  std::string& calls_;
  bool is_pending_ = false;
};

class PutOrderOfTwo : public ::testing::Test {
 protected:
  PutOrderOfTwo() {
    for (const char* name : {"a", "b"}) transports_.push_back(std::make_unique<Recorder>(name, &calls_));
    order_.open(1, transports_.size());
  }
  void put(std::size_t by) {
    ASSERT_TRUE(succeeded(order_.before_put(0, by, transports_)));
    ASSERT_TRUE(succeeded(transports_[by]->put(0, {}, nullptr, 0, transport::LocalMemory::host, true)));
  }
  [[nodiscard]] std::string calls() { return std::exchange(calls_, ""); }

  std::string calls_;
  std::vector<std::unique_ptr<transport::Transport>> transports_;
  PutOrder order_;
};
constexpr std::size_t a = 0;
constexpr std::size_t b = 1;

TEST_F(PutOrderOfTwo, WithoutAFenceNothingIsOrdered) {
  for (const std::size_t by : {a, b, a, b}) put(by);
  EXPECT_EQ(calls(), "a puts, b puts, a puts, b puts");
}

TEST_F(PutOrderOfTwo, FenceOrdersOneTransportAndCompletesTheOther) {
  put(a);
  order_.fence();
  put(a);
  put(a);
  EXPECT_EQ(calls(), "a puts, a orders, a puts, a puts");
  order_.fence();
  put(b);
  EXPECT_EQ(calls(), "a completes, b puts");
}

/// The later put by a is after the fence, the earlier one is before it.
TEST_F(PutOrderOfTwo, CompletesFencedPutsDespiteLaterPutsOfTheTransport) {
  put(a);
  order_.fence();
  put(a);
  put(b);
  EXPECT_EQ(calls(), "a puts, a orders, a puts, a completes, b puts");
  // Nothing of before the fence is left.
  for (const std::size_t by : {a, b, a, b}) put(by);
  EXPECT_EQ(calls(), "a puts, b puts, a puts, b puts");
  order_.fence();
  put(b);
  EXPECT_EQ(calls(), "a completes, b orders, b puts");
}

TEST_F(PutOrderOfTwo, DoesNotCompleteCompletedPutsAgain) {
  put(a);
  order_.fence();
  ASSERT_TRUE(succeeded(transports_[a]->complete(0)));
  put(a);
  put(b);
  EXPECT_EQ(calls(), "a puts, a completes, a puts, b puts");
}

}  // namespace
}  // namespace gdrkit::shmem_impl::parts
