// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/report_page.hpp"

#include <utility>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

using AddSection = void (*)(Source* source, Chapter* chapter);

constexpr AddSection sections[] = {
#define GDRKIT_REPORT_SECTION(name) &add_##name,
#include "measure/report/report_sections.def"
#undef GDRKIT_REPORT_SECTION
};

/// "A", "B", ... "Z", then numbers.
std::string letter_of(std::size_t number) {
  return number < 26 ? std::string(1, static_cast<char>('A' + number)) : std::to_string(number + 1);
}

std::string device_of(const measure::Result& result) {
  return result.machine.gpu_name.empty() ? "no GPU" : result.machine.gpu_name;
}

std::vector<std::string> warnings_of(const measure::Result& result) {
  std::vector<std::string> warnings;
  if (result.is_emulated) {
    warnings.emplace_back(
        "Measured on the emulated device: the figures are those of ordinary memory, not of hardware.");
  }
  if (!result.is_ok) warnings.emplace_back("The tool reported that this run failed.");
  if (result.noise && !result.noise->is_quiet()) {
    warnings.emplace_back(
        "The machine was not quiet: p99 and above are those of other work on the machine, not of the operation.");
  }
  if (result.place && !result.place->advice.empty()) warnings.push_back(result.place->advice);
  return warnings;
}

Chapter chapter_of(const measure::Result& result, const std::string& letter) {
  Chapter chapter;
  chapter.heading = letter.empty() ? device_of(result) : letter + ": " + result.tool + " on " + device_of(result);
  chapter.summary = "Measured on " + result.date + " by gdrkit " + result.version +
                    (result.backend.empty() ? "" : ", backend " + result.backend) + ", " +
                    std::to_string(result.series.size()) + " series." +
                    (result.series.empty() ? ""
                                           : " Points of charts are medians of rounds; whiskers, where longer than a "
                                             "mark, are two standard errors.");
  chapter.warnings = warnings_of(result);
  Source source = source_of(result);
  for (const AddSection add : sections) add(&source, &chapter);
  return chapter;
}

}  // namespace

Page page_of(const std::vector<measure::Result>& results, const std::string& title) {
  Page page;
  const bool is_one = results.size() == 1;
  page.title = !title.empty() ? title
               : is_one       ? "gdrkit " + results.front().tool
                              : "gdrkit: " + counted(results.size(), "result") + " side by side";
  // The order of the arguments identifies the older one. For more than two it is unclear which pairs matter.
  if (results.size() == 2) page.chapters.push_back(comparison_chapter(results[0], results[1]));
  if (results.size() > 2) page.summary = "Results are compared only when there are exactly two.";
  for (std::size_t at = 0; at < results.size(); ++at) {
    page.chapters.push_back(chapter_of(results[at], is_one ? "" : letter_of(at)));
  }
  return page;
}

}  // namespace gdrkit::measure::report
