// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/message_engine.hpp"

#include "platform/vendor/ucx_library.hpp"

namespace gdrkit::transfer::engines {
namespace {

[[noreturn]] void lack(const char* what) {
  cli::cannot_run(std::string("gdrkit osu: the engine that --engine selects does not support ") + what);
}

}  // namespace

void MessageEngine::send(int, std::size_t) { lack("messages"); }
void MessageEngine::receive(int, std::size_t) { lack("messages"); }
void MessageEngine::send_window(int, std::size_t, const Window&) { lack("messages"); }
void MessageEngine::receive_window(int, std::size_t, const Window&) { lack("messages"); }
void MessageEngine::exchange_window(int, std::size_t, const Window&) { lack("messages"); }
void MessageEngine::put(int, std::size_t) { lack("puts"); }
void MessageEngine::get(int, std::size_t) { lack("gets"); }
void MessageEngine::flush(int) { lack("puts"); }
void MessageEngine::fetch_add(int) { lack("fetch-and-add"); }
void MessageEngine::run_collective(CollectiveKind, std::size_t) { lack("collectives"); }

#define GDRKIT_MESSAGE_ENGINE(name, places, accepts, families, launcher, before_cuda) \
  std::unique_ptr<MessageEngine> make_##name##_messages(const MessageRequest& request);
#include "transfer/engines/message_engines.def"
#undef GDRKIT_MESSAGE_ENGINE

const std::vector<MessageEngineKind>& all_message_engines() {
  using namespace family;
  static const std::vector<MessageEngineKind> all = {
#define GDRKIT_MESSAGE_ENGINE(name, places, accepts, families, launcher, before_cuda) \
  {#name, places, accepts, families, Launcher::launcher, before_cuda, &make_##name##_messages},
#include "transfer/engines/message_engines.def"
#undef GDRKIT_MESSAGE_ENGINE
  };
  return all;
}

}  // namespace gdrkit::transfer::engines
