// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_engine.hpp"

#include "platform/vendor/ucx_library.hpp"

namespace gdrkit::tools::osu {
namespace {

[[noreturn]] void lack(const char* what) {
  throw cli::Failure(cli::ExitCode::cannot_run, std::string("gdrkit osu: this engine has no ") + what);
}

}  // namespace

void OsuEngine::send(int, std::size_t) { lack("messages"); }
void OsuEngine::receive(int, std::size_t) { lack("messages"); }
void OsuEngine::send_window(int, std::size_t, const Window&) { lack("messages"); }
void OsuEngine::receive_window(int, std::size_t, const Window&) { lack("messages"); }
void OsuEngine::exchange_window(int, std::size_t, const Window&) { lack("messages"); }
void OsuEngine::put(int, std::size_t) { lack("puts"); }
void OsuEngine::get(int, std::size_t) { lack("gets"); }
void OsuEngine::flush(int) { lack("puts"); }
void OsuEngine::fetch_add(int) { lack("fetch-and-add"); }
void OsuEngine::run_collective(Loop, std::size_t) { lack("collectives"); }

#define GDRKIT_OSU_ENGINE(name, places, families, launcher, before_cuda) \
  std::unique_ptr<OsuEngine> make_##name##_engine(const EngineRequest& request);
#include "transfer/osu/engines.def"
#undef GDRKIT_OSU_ENGINE

const std::vector<EngineKind>& all_osu_engines() {
  using namespace family;
  static const std::vector<EngineKind> all = {
#define GDRKIT_OSU_ENGINE(name, places, families, launcher, before_cuda) \
  {#name, places, families, Launcher::launcher, before_cuda, &make_##name##_engine},
#include "transfer/osu/engines.def"
#undef GDRKIT_OSU_ENGINE
  };
  return all;
}

}  // namespace gdrkit::tools::osu
