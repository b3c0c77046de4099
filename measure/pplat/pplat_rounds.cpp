// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/pplat/pplat_rounds.hpp"

#include <algorithm>

#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::pplat {

PlayedRounds play_rounds(PingPongMatch* match, const std::vector<Way>& ways, std::size_t iterations, double budget_ns,
                         bool with_singles, const Clock& clock) {
  const std::size_t rounds = std::min(most_match_rounds, iterations);
  PlayedRounds played;
  for (const Way way : ways) {
    Measured& measured = played.ways.emplace_back();
    measured.name = way_name(way);
    measured.operations_per_round = iterations / rounds;
  }
  const std::int64_t begin = platform::now_ns();
  for (std::size_t round = 0; round < rounds; ++round) {
    // The remainder is played in the first rounds.
    const std::size_t count = iterations / rounds + (round < iterations % rounds ? 1 : 0);
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = (turn + round) % ways.size();
      Measured& measured = played.ways[way];
      measured.round_ns.push_back(
          match->play(ways[way], match_warm_up, count, clock, with_singles ? &measured.single_ns : nullptr));
    }
    const bool is_over = budget_ns > 0 && static_cast<double>(platform::now_ns() - begin) > budget_ns;
    if (is_over && round + 1 >= fewest_match_rounds) {
      played.is_cut_short = round + 1 < rounds;
      break;
    }
  }
  return played;
}

}  // namespace gdrkit::measure::pplat
