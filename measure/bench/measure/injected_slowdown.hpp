// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// InjectedSlowdown: makes copies of one size slower on purpose, to prove that the comparison finds it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/bench/options.hpp"

namespace gdrkit::tools {

/// Spins, a cycle a turn or less, with no access to memory. A CPU may hide some of it behind stores that are on their
/// way; therefore turns are found by what they do to the whole operation.
void spin(std::size_t turns) noexcept;

/// One way of copying that is slowed down. Each batch with turns of spin() follows one without, and the turns are
/// corrected by what they did: the share is that of the measured rounds themselves, whatever the machine does
/// meanwhile.
class Brake {
 public:
  /// `turns_a_ns`: about how many turns a nanosecond takes.
  Brake(double share, double turns_a_ns) : share_(share), turns_a_ns_(turns_a_ns) {}

  /// `mean_ns(turns)`: the time of one of `count` operations, each followed by spin(turns). Returns the slowed one's.
  double measure(std::size_t count, const std::function<double(std::size_t turns)>& mean_ns);
  /// Before the rounds: until the turns take the wanted share. Forgets what they took meanwhile.
  void settle(std::size_t count, const std::function<double(std::size_t turns)>& mean_ns);
  [[nodiscard]] std::size_t turns() const noexcept { return static_cast<std::size_t>(turns_); }
  /// What the slowed batches took longer than the plain ones next to them: the median.
  [[nodiscard]] std::optional<double> achieved_share() const;

 private:
  double share_;
  double turns_a_ns_;
  double turns_ = 0;
  std::vector<double> shares_;
  std::vector<double> plain_ns_;
};

class InjectedSlowdown {
 public:
  explicit InjectedSlowdown(std::optional<SlowdownRequest> request) : request_(std::move(request)) {}

  [[nodiscard]] bool is_meant(Direction direction, std::size_t size_bytes) const;
  /// A brake of the requested share, whose outcome is described. One thread uses it at a time.
  [[nodiscard]] std::shared_ptr<Brake> brake(Direction direction);
  [[nodiscard]] std::string description() const;

 private:
  std::optional<SlowdownRequest> request_;
  std::vector<std::pair<Direction, std::shared_ptr<Brake>>> brakes_;
};

}  // namespace gdrkit::tools
