// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Turns engines.def into the list that the chooser and the conformance suite read.
#include "engine/engine.hpp"

namespace gdrkit::engine {

#define GDRKIT_ENGINE(name, summary) base::Result<std::unique_ptr<Engine>> open_##name(const Place& place) noexcept;
#include "engine/engines.def"
#undef GDRKIT_ENGINE

RegistrationList registrations() noexcept {
  static constexpr Registration list[] = {
#define GDRKIT_ENGINE(name, summary) {Id::name, #name, summary, &open_##name},
#include "engine/engines.def"
#undef GDRKIT_ENGINE
  };
  return {list, sizeof(list) / sizeof(list[0])};
}

}  // namespace gdrkit::engine
