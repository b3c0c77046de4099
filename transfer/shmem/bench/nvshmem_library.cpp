// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/nvshmem_library.hpp"

#include <dlfcn.h>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools::pgas {
namespace {

constexpr const char* usual_name = "libnvshmem_host.so.3";

class LoadedFile {
 public:
  LoadedFile(const char* path, const char* remedy) : path_(path), remedy_(remedy) {
    // Never closed: its threads and handlers stay.
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
    if (!has(name, function)) refuse(name + std::string(" is not in it"));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Failure(ExitCode::cannot_run, format("cannot load %s: %s%s", path_, why.c_str(), remedy_));
  }
  const char* path_;
  const char* remedy_;
  void* handle_ = nullptr;
};

}  // namespace

NvshmemCalls load_nvshmem(const std::string& path) {
  NvshmemCalls calls{};
  const LoadedFile library(path.empty() ? usual_name : path.c_str(), "; name the file with --nvshmem");
  // Beside a stand-in for NVSHMEM that brings its own streams, there may be no driver.
  if (!library.has("cuStreamSynchronize", &calls.stream_synchronize)) {
    LoadedFile("libcuda.so.1", "").find("cuStreamSynchronize", &calls.stream_synchronize);
  }
  library.find("nvshmem_putmem", &calls.putmem);
  library.find("nvshmem_getmem", &calls.getmem);
  library.find("nvshmem_uint64_p", &calls.uint64_p);
  library.find("nvshmem_uint64_g", &calls.uint64_g);
  library.find("nvshmem_quiet", &calls.quiet);
  library.find("nvshmem_barrier_all", &calls.barrier_all);
  library.find("nvshmem_sync_all", &calls.sync_all);
  library.find("nvshmem_calloc", &calls.calloc);
  library.find("nvshmem_my_pe", &calls.my_pe);
  library.find("nvshmemx_vendor_get_version_info", &calls.vendor_version);
  library.find("nvshmemx_putmem_signal_on_stream", &calls.putmem_signal_on_stream);
  library.find("nvshmemx_signal_wait_until_on_stream", &calls.signal_wait_until_on_stream);
  library.find("nvshmemx_get_uniqueid", &calls.get_uniqueid);
  library.find("nvshmemx_set_attr_uniqueid_args", &calls.set_attr_uniqueid_args);
  library.find("nvshmemx_hostlib_init_attr", &calls.hostlib_init_attr);
  library.find("nvshmemx_hostlib_finalize", &calls.hostlib_finalize);
  (void)library.has("nvshmemx_cumodule_init", &calls.cumodule_init);
  (void)library.has("nvshmemx_cumodule_finalize", &calls.cumodule_finalize);
  return calls;
}

}  // namespace gdrkit::tools::pgas
