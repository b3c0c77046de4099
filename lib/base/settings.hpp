// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The settings that the library reads from the environment, once for each context that it opens.
#pragma once

#include <string>

namespace gdrkit::base {

/// The only place in lib/ that reads the environment. An empty string means "not set".
struct Settings {
  std::string backend;                   ///< GDRKIT_BACKEND: the only backend to use
  std::string copy_kernel;               ///< GDRKIT_COPY_KERNEL: the only copy kernel to use
  std::string engine;                    ///< GDRKIT_ENGINE: the only engine to use, or "automatic"
  std::string dropin_engine;             ///< GDRKIT_DROPIN_ENGINE: the same for the drop-in library
  std::string cache_directory;           ///< $XDG_CACHE_HOME/gdrkit, else $HOME/.cache/gdrkit: engine profiles
  bool allow_unreviewed_driver = false;  ///< GDRKIT_ALLOW_UNREVIEWED_DRIVER=1
  bool allow_ipc_handle = false;         ///< GDRKIT_ALLOW_IPC_HANDLE=1: the rm backend may read CUDA IPC handles
  std::string emulated_devices;          ///< GDRKIT_EMULATED_DEVICES: the number of emulated devices
  bool log_enabled = false;              ///< GDRCOPY_ENABLE_LOGGING is set to any value
  int log_level = 4;                     ///< GDRCOPY_LOG_LEVEL: 1 debug, 2 info, 3 warning, 4 error
  bool force_dmabuf = false;             ///< GDRCOPY_USE_DMABUF_MMAP is exactly "1"
};

[[nodiscard]] Settings read_settings();

}  // namespace gdrkit::base
