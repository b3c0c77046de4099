// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/engine.hpp"

namespace gdrkit::tools::engines {

#define GDRKIT_ENGINE(name) std::unique_ptr<Engine> make_##name##_engine(const EngineRequest& request);
#include "transfer/engines/engines.def"
#undef GDRKIT_ENGINE

const std::vector<EngineKind>& all_engines() {
  static const std::vector<EngineKind> all = {
#define GDRKIT_ENGINE(name) {#name, &make_##name##_engine},
#include "transfer/engines/engines.def"
#undef GDRKIT_ENGINE
  };
  return all;
}

}  // namespace gdrkit::tools::engines
