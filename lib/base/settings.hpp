// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Everything the library takes from the environment, read once for each context that is opened.
#pragma once

#include <string>

namespace gdrkit::base {

/// The only place in lib/ that reads the environment. An empty string means "not set".
struct Settings {
  std::string backend;                   ///< GDRKIT_BACKEND: name of the one backend to use
  std::string copy_kernel;               ///< GDRKIT_COPY_KERNEL: name of the one copy kernel to use
  std::string engine;                    ///< GDRKIT_ENGINE: name of the one engine to use, or "automatic"
  std::string dropin_engine;             ///< GDRKIT_DROPIN_ENGINE: the same for the drop-in library
  std::string cache_folder;              ///< $XDG_CACHE_HOME/gdrkit, else $HOME/.cache/gdrkit: profiles of engines
  bool allow_unreviewed_driver = false;  ///< GDRKIT_ALLOW_UNREVIEWED_DRIVER=1
  bool allow_ipc_handle = false;         ///< GDRKIT_ALLOW_IPC_HANDLE=1: the rm backend may read CUDA IPC handles
  std::string emulated_devices;          ///< GDRKIT_EMULATED_DEVICES: how many emulated devices there are
  bool log_enabled = false;              ///< GDRCOPY_ENABLE_LOGGING: defined at all
  int log_level = 4;                     ///< GDRCOPY_LOG_LEVEL: 1 debug, 2 info, 3 warning, 4 error
  bool force_dmabuf = false;             ///< GDRCOPY_USE_DMABUF_MMAP is exactly "1"
};

[[nodiscard]] Settings read_settings();

}  // namespace gdrkit::base
