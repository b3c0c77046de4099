// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/settings.hpp"

#include <cstdlib>
#include <cstring>

namespace gdrkit::base {
namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_one(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

std::string cache_directory() {
  const std::string own = text("XDG_CACHE_HOME");
  if (!own.empty() && own.front() == '/') return own + "/gdrkit";
  const std::string home = text("HOME");
  return home.empty() ? home : home + "/.cache/gdrkit";
}

}  // namespace

Settings read_settings() {
  Settings settings;
  settings.backend = text("GDRKIT_BACKEND");
  settings.copy_kernel = text("GDRKIT_COPY_KERNEL");
  settings.engine = text("GDRKIT_ENGINE");
  settings.dropin_engine = text("GDRKIT_DROPIN_ENGINE");
  settings.cache_directory = cache_directory();
  settings.allow_unreviewed_driver = is_one("GDRKIT_ALLOW_UNREVIEWED_DRIVER");
  settings.allow_ipc_handle = is_one("GDRKIT_ALLOW_IPC_HANDLE");
  settings.emulated_devices = text("GDRKIT_EMULATED_DEVICES");
  settings.log_enabled = std::getenv("GDRCOPY_ENABLE_LOGGING") != nullptr;
  if (const char* level = std::getenv("GDRCOPY_LOG_LEVEL")) settings.log_level = std::atoi(level);
  settings.force_dmabuf = is_one("GDRCOPY_USE_DMABUF_MMAP");
  return settings;
}

}  // namespace gdrkit::base
