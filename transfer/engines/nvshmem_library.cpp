// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/nvshmem_library.hpp"

#include <dlfcn.h>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::engines {
namespace {

constexpr const char* usual_name = "libnvshmem_host.so.3";

class LoadedFile {
 public:
  LoadedFile(const char* path, const char* remedy) : path_(path), remedy_(remedy) {
    // Never closed: NVSHMEM's threads and handlers keep running.
    handle_ = ::dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (handle_ == nullptr) refuse(::dlerror());
  }
  template <class Function>
  [[nodiscard]] bool has(const char* name, Function** function) const {
    *function = reinterpret_cast<Function*>(::dlsym(handle_, name));
    return *function != nullptr;
  }
  template <class Function>
  void find(const char* name, Function** function) const {
    if (!has(name, function)) refuse(name + std::string(" is missing in it"));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    cli::cannot_run(cli::format("cannot load %s: %s%s", path_, why.c_str(), remedy_));
  }
  const char* path_;
  const char* remedy_;
  void* handle_ = nullptr;
};

}  // namespace

NvshmemCalls load_nvshmem(const std::string& path) {
  NvshmemCalls calls;
  const LoadedFile library(path.empty() ? usual_name : path.c_str(), "; select the file with --nvshmem");
  // With a substitute for NVSHMEM that has its own streams, there may be no driver.
  if (!library.has("cuStreamSynchronize", &calls.stream_synchronize)) {
    LoadedFile("libcuda.so.1", "").find("cuStreamSynchronize", &calls.stream_synchronize);
  }
#define GDRKIT_NVSHMEM_CALL(member, symbol, type, ...) library.find(#symbol, &calls.member);
#include "transfer/engines/nvshmem_calls.def"
#undef GDRKIT_NVSHMEM_CALL
  (void)library.has("nvshmemx_cumodule_init", &calls.cumodule_init);
  (void)library.has("nvshmemx_cumodule_finalize", &calls.cumodule_finalize);
  return calls;
}

}  // namespace gdrkit::transfer::engines
