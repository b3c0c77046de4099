// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Endpoint: one RDMA device opened for a test, with its queue pairs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/vendor/verbs_library.hpp"
#include "transfer/perftest/exchange.hpp"
#include "transfer/perftest/perftest_options.hpp"

namespace gdrkit::transfer::perftest {

/// libibverbs, or a substitute.
struct Verbs {
  const platform::VerbsCalls* control = nullptr;
  const platform::VerbsDataCalls* data = nullptr;
};
/// Throws Failure(cannot_run) with the package to install.
[[nodiscard]] Verbs load_verbs();

/// A failed call of libibverbs as error message: "gdrkit perftest: what: cause; remedy".
[[noreturn]] void fail_call(const std::string& what, int error, const std::string& remedy = "");

/// Releases an object of libibverbs.
template <class T>
struct Release {
  int (*call)(T*) = nullptr;
  void operator()(T* object) const noexcept { (void)call(object); }
};
template <class T>
using Held = std::unique_ptr<T, Release<T>>;

class Endpoint {
 public:
  /// Throws Failure: cannot_run if the device does not exist.
  Endpoint(const Verbs& verbs, const Plan& plan);

  [[nodiscard]] const Verbs& verbs() const noexcept { return verbs_; }
  [[nodiscard]] platform::VerbsContext* context() const noexcept { return context_.get(); }
  [[nodiscard]] platform::VerbsDomain* domain() const noexcept { return domain_.get(); }
  [[nodiscard]] const std::string& device() const noexcept { return device_; }
  [[nodiscard]] const platform::VerbsPort& port() const noexcept { return port_; }
  [[nodiscard]] bool is_ethernet() const noexcept { return port_.link_layer == platform::verbs_link_ethernet; }
  [[nodiscard]] int gid_index() const noexcept { return gid_index_; }  ///< -1: none
  [[nodiscard]] int reads() const noexcept { return reads_; }          ///< outstanding
  [[nodiscard]] int inline_bytes() const noexcept { return inline_bytes_; }
  /// The path's MTU in the encoding of verbs; both ends must use the same.
  [[nodiscard]] int mtu() const noexcept { return mtu_; }
  void set_mtu(int mtu) noexcept { mtu_ = mtu; }

  /// Creates the queue pairs of the plan, ready to be connected. `inline_bytes`: -1 for the device's maximum, up to
  /// 220.
  void make_pairs(int inline_bytes);
  /// The fields that are equal for all its queue pairs are set.
  [[nodiscard]] PairAddress address(int pair) const;
  void connect(int pair, const PairAddress& remote);
  [[nodiscard]] std::uint32_t number(int pair) const { return pairs_[static_cast<std::size_t>(pair)]->number; }
  /// For connecting a queue pair by rdma_cm.
  void modify(int pair, platform::VerbsPairState* state, int mask, const char* step) const;
  void modify(platform::VerbsQueuePair* pair, platform::VerbsPairState* state, int mask, const std::string& name,
              const char* step) const;

  /// For UD the path to the peer; otherwise nullptr.
  [[nodiscard]] platform::VerbsAddressHandle* path(int pair) const {
    return paths_.empty() ? nullptr : paths_[static_cast<std::size_t>(pair)].get();
  }
  void post(int pair, platform::VerbsSend* send);
  void post(int pair, platform::VerbsReceive* receive);
  /// Returns the number of completions. Throws Failure for a broken queue.
  [[nodiscard]] int poll(platform::VerbsCompletion* completions, int most);

 private:
  void open_device();
  void query();
  /// On Ethernet: RoCE v2 before v1, IPv4 before IPv6 (with --ipv6 after it), the first of equal ones.
  [[nodiscard]] int best_gid() const;
  void check_global_route() const;
  [[nodiscard]] bool make_pair(int inline_bytes);

  Verbs verbs_;
  const Plan& plan_;
  std::string device_;
  Held<platform::VerbsContext> context_;
  Held<platform::VerbsDomain> domain_;
  Held<platform::VerbsCompletionQueue> queue_;
  std::vector<Held<platform::VerbsAddressHandle>> paths_;
  std::vector<Held<platform::VerbsQueuePair>> pairs_;
  std::vector<std::uint32_t> psns_;
  platform::VerbsPort port_;
  platform::VerbsDeviceLimits limits_;
  platform::VerbsGid gid_;
  int gid_index_ = -1;
  int mtu_ = 0;
  int reads_ = 0;
  int inline_bytes_ = 0;
};

}  // namespace gdrkit::transfer::perftest
