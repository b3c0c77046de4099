// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/section.hpp"

namespace gdrkit::measure::bench {

#define GDRKIT_BENCH_SECTION(name, summary) std::vector<Cell> name##_cells(Session* session);
#include "measure/bench/sections.def"
#undef GDRKIT_BENCH_SECTION

const std::vector<Section>& all_sections() {
  static const std::vector<Section> sections = {
#define GDRKIT_BENCH_SECTION(name, summary) {#name, summary, &name##_cells},
#include "measure/bench/sections.def"
#undef GDRKIT_BENCH_SECTION
  };
  return sections;
}

std::string section_names() {
  std::string names;
  for (const Section& section : all_sections()) names += (names.empty() ? "" : ", ") + section.name;
  return names;
}

}  // namespace gdrkit::measure::bench
