// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Rounds of a ping-pong match, by all ways in turns.
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
  std::vector<Measured> ways;  ///< in the order asked for; round_ns holds what PingPongMatch::play returned
  bool is_cut_short = false;   ///< the budget was used up before all iterations
};

/// `iterations` of each way, spread over the rounds; the order of the ways turns by one each round. With a budget no
/// round begins after it, but for the fewest. `with_singles`: as many
/// round trips again are timed one by one. Throws what the match throws.
[[nodiscard]] PlayedRounds play_rounds(PingPongMatch* match, const std::vector<Way>& ways, std::size_t iterations,
                                       double budget_ns, bool with_singles, const Clock& clock);

}  // namespace gdrkit::measure::pplat
