// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/nccl/engine.hpp"

namespace gdrkit::tools::nccl {

#define GDRKIT_ENGINE(name) std::unique_ptr<Engine> make_##name##_engine(const EngineRequest& request);
#include "transfer/nccl/engines.def"
#undef GDRKIT_ENGINE

const std::vector<EngineKind>& all_engines() {
  static const std::vector<EngineKind> all = {
#define GDRKIT_ENGINE(name) {#name, &make_##name##_engine},
#include "transfer/nccl/engines.def"
#undef GDRKIT_ENGINE
  };
  return all;
}

}  // namespace gdrkit::tools::nccl
