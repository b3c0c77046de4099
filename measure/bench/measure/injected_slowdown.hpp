// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// InjectedSlowdown: makes copies of one size slower on purpose, to prove that the comparison finds it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "measure/bench/options.hpp"

namespace gdrkit::tools {

/// Spins, about a cycle a turn, with no access to memory. A CPU may hide some of it behind stores that are on their
/// way; therefore turns are found by what they do to the whole operation.
void spin(std::size_t turns) noexcept;

class InjectedSlowdown {
 public:
  explicit InjectedSlowdown(std::optional<SlowdownRequest> request) : request_(std::move(request)) {}

  [[nodiscard]] bool is_meant(Direction direction, std::size_t size_bytes) const;
  /// Turns of spin() after which the operation takes the wanted share longer. Found by measuring, once for each
  /// direction: `mean_ns(turns)` is the time of one operation followed by spin(turns).
  [[nodiscard]] std::size_t turns(Direction direction, const std::function<double(std::size_t turns)>& mean_ns);
  [[nodiscard]] std::string description() const;

 private:
  std::optional<SlowdownRequest> request_;
  std::map<Direction, std::size_t> turns_;
  std::map<Direction, double> achieved_percent_;
};

}  // namespace gdrkit::tools
