// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_engine.hpp"

namespace gdrkit::tools::osu {

#define GDRKIT_OSU_ENGINE(name, places) std::unique_ptr<OsuEngine> make_##name##_engine(const EngineRequest& request);
#include "transfer/osu/engines.def"
#undef GDRKIT_OSU_ENGINE

const std::vector<EngineKind>& all_osu_engines() {
  static const std::vector<EngineKind> all = {
#define GDRKIT_OSU_ENGINE(name, places) {#name, places, &make_##name##_engine},
#include "transfer/osu/engines.def"
#undef GDRKIT_OSU_ENGINE
  };
  return all;
}

}  // namespace gdrkit::tools::osu
