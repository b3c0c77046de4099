// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The sizes from which another method is better, in words.
#include <algorithm>
#include <utility>

#include "measure/report/crossover.hpp"
#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

/// Two series of one picture with their labels.
struct Pair {
  const measure::Series& one;
  const measure::Series& other;
  std::string one_name;
  std::string other_name;
};

std::string better_word(const measure::Series& series) {
  const Quantity quantity = unit_of(series.unit).quantity;
  return quantity == Quantity::time || quantity == Quantity::bandwidth ? "faster" : "better";
}

std::string crossings_text(const Pair& pair, const Contest& contest, Quantity x) {
  const std::string better = better_word(pair.one);
  std::string text;
  for (std::size_t at = 0; at < contest.crossings.size(); ++at) {
    const Crossing& crossing = contest.crossings[at];
    const std::string& below = crossing.is_from_one ? pair.one_name : pair.other_name;
    const std::string& above = crossing.is_from_one ? pair.other_name : pair.one_name;
    text += at == 0 ? below + " is " + better + " than " + above + " up to about " : ", up to about ";
    text += written(crossing.x, x) + " (between " + written(crossing.below, x) + " and " + written(crossing.above, x) +
            "); beyond, " + above + " is " + better;
  }
  return text + ".";
}

std::string sentence_of(const Pair& pair) {
  const Contest contest = compete(pair.one, pair.other);
  const Quantity x = quantity_of_x(pair.one.x_name);
  const std::string noun = x == Quantity::size ? "size" : "point";
  const std::string both = pair.one_name + " and " + pair.other_name;
  if (contest.points == 0) {
    return both + " have no " + noun + " in common that was measured in " + std::to_string(least_rounds) +
           " rounds or more, so they are not compared.";
  }
  const std::size_t clear = contest.one_better + contest.other_better;
  if (clear == 0) {
    return "Between " + both + " the noise hides any difference (" + counted(contest.points, noun) + ").";
  }
  if (!contest.crossings.empty()) return crossings_text(pair, contest, x);
  const bool is_one = contest.one_better > 0;
  std::string text = (is_one ? pair.one_name : pair.other_name) + " is " + better_word(pair.one) + " than " +
                     (is_one ? pair.other_name : pair.one_name) + " at ";
  if (clear == contest.points) return text + "all of " + counted(contest.points, noun) + ".";
  return text + std::to_string(clear) + " of " + counted(contest.points, noun) +
         "; at the others the noise hides any difference.";
}

bool is_comparable(const measure::Series& one, const measure::Series& other) {
  return one.operation == other.operation && one.direction == other.direction && one.conditions == other.conditions &&
         one.method != other.method;
}

/// The mapping if there is one, otherwise the first series: the base of the comparison.
const measure::Series* base_for(const Picture& picture, const measure::Series& other) {
  const measure::Series* base = nullptr;
  for (const measure::Series* series : picture.series) {
    if (series == &other || !is_comparable(*series, other)) continue;
    if (series->method == "mapping") return series;
    if (base == nullptr) base = series;
  }
  return other.method == "mapping" ? nullptr : base;
}

void add_sentences(const Picture& picture, Sentences* sentences) {
  const std::vector<std::string> labels = labels_of(picture);
  const auto label_of = [&](const measure::Series* series) {
    const auto found = std::ranges::find(picture.series, series);
    return labels[static_cast<std::size_t>(found - picture.series.begin())];
  };
  for (std::size_t at = 0; at < picture.series.size(); ++at) {
    const measure::Series& other = *picture.series[at];
    const measure::Series* base = base_for(picture, other);
    // Each pair once: pairs with an earlier base were handled there.
    const auto place = std::ranges::find(picture.series, base);
    const bool is_first_seen = base != nullptr && (base->method == "mapping" ||
                                                   place - picture.series.begin() < static_cast<std::ptrdiff_t>(at));
    if (is_first_seen) sentences->items.push_back(sentence_of({*base, other, label_of(base), labels[at]}));
  }
}

}  // namespace

void add_crossovers(Source* source, Chapter* chapter) {
  Section section{"Crossover sizes of the methods", {}};
  section.blocks.emplace_back(
      Paragraph{"Listed only if the difference exceeds " + std::to_string(static_cast<int>(errors_to_differ)) +
                " standard errors on both sides; the crossover is interpolated on logarithmic axes."});
  for (const Picture& picture : source->pictures) {
    if (!is_plain_copy(picture)) continue;
    Sentences sentences{heading_of(picture), {}};
    add_sentences(picture, &sentences);
    if (!sentences.items.empty()) section.blocks.emplace_back(std::move(sentences));
  }
  if (section.blocks.size() > 1) chapter->sections.push_back(std::move(section));
}

}  // namespace gdrkit::measure::report
