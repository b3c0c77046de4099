// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rounds of a ping-pong match, with all methods in turns.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/harness/rounds.hpp"
#include "measure/pplat/match.hpp"

namespace gdrkit::measure::pplat {

inline constexpr std::size_t most_match_rounds = 20;
inline constexpr std::size_t fewest_match_rounds = 3;
inline constexpr std::size_t match_warm_up = 20;  ///< of each round, not counted: the GPU kernel may not run yet

struct PlayedRounds {
  std::vector<Measured> ways;  ///< in the requested order; round_ns contains the results of PingPongMatch::play
  bool is_cut_short = false;   ///< the budget was used up before all iterations
};

/// `iterations` of each method, distributed over the rounds; the order of the methods rotates by one each round. With a
/// budget no round begins after it, except for the minimum. `with_singles`: the same number of round trips again is
/// timed one by one. Throws the match's exceptions.
[[nodiscard]] PlayedRounds play_rounds(PingPongMatch* match, const std::vector<Way>& ways, std::size_t iterations,
                                       double budget_ns, bool with_singles, const Clock& clock);

}  // namespace gdrkit::measure::pplat
