// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/collective_engine.hpp"

namespace gdrkit::transfer::engines {

#define GDRKIT_COLLECTIVE_ENGINE(name) \
  std::unique_ptr<CollectiveEngine> make_##name##_collectives(const CollectiveRequest& request);
#include "transfer/engines/collective_engines.def"
#undef GDRKIT_COLLECTIVE_ENGINE

const std::vector<CollectiveEngineKind>& all_collective_engines() {
  static const std::vector<CollectiveEngineKind> all = {
#define GDRKIT_COLLECTIVE_ENGINE(name) {#name, &make_##name##_collectives},
#include "transfer/engines/collective_engines.def"
#undef GDRKIT_COLLECTIVE_ENGINE
  };
  return all;
}

}  // namespace gdrkit::transfer::engines
