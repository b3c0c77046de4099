// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/path_log.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/memory_file.hpp"

namespace gdrkit::transfer::engines {
namespace {

/// The part of `line` after `marker`; "" if it does not contain `marker`.
std::string rest_of(const std::string& line, const std::string& marker) {
  const std::size_t at = line.find(marker);
  return at == std::string::npos ? "" : line.substr(at + marker.size());
}

using UcxPrint = void (*)(const void* object, std::FILE* stream);

/// The output of a function that prints to a stream.
std::string printed_by(UcxPrint function, const void* object) {
  if (function == nullptr) return "";
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const stream = ::open_memstream(&text, &size);
  if (stream == nullptr) return "";
  function(object, stream);
  (void)std::fclose(stream);
  const std::string printed(text, size);
  std::free(text);
  return printed;
}

/// A function of the loaded libucp that prints an object; nullptr if it is missing. These functions are only for
/// human-readable output, so the calls that transfer data do not require them.
UcxPrint ucx_print(const platform::UcxCalls& calls, const char* name) {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(calls.get_version), &found) == 0) return nullptr;
  void* const library = ::dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto function = reinterpret_cast<UcxPrint>(::dlsym(library, name));
  (void)::dlclose(library);  // decrements the count only: the library stays loaded
  return function;
}

/// The file of the libgdrapi that a module has loaded; "" if none.
std::string loaded_gdrapi() {
  std::string file;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (name.find("/libgdrapi.so") != std::string::npos) *static_cast<std::string*>(found) = name;
        return 0;
      },
      &file);
  return file;
}

}  // namespace

NcclPaths parse_nccl_log(const std::string& log) {
  NcclPaths paths;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Channel") != std::string::npos) {
      std::string way = rest_of(line, " via ");
      way = way.substr(0, way.find(" comm "));
      while (!way.empty() && (way.back() == ' ' || way.back() == '\r')) way.pop_back();
      if (!way.empty()) ++paths.channels[way];
    }
    if (line.find("Connected NVLS tree") != std::string::npos) paths.has_nvls = true;
    if (const std::string name = rest_of(line, "Using network "); !name.empty()) paths.network = name;
    if (const std::string versions = rest_of(line, "GDRCOPY enabled "); !versions.empty()) paths.gdrcopy = versions;
  }
  return paths;
}

std::string NcclPaths::text() const {
  std::string text;
  for (const auto& [way, count] : channels) {
    text += (text.empty() ? "" : ", ") + way + " (" + std::to_string(count) + (count == 1 ? " channel)" : " channels)");
  }
  if (has_nvls) text += text.empty() ? "NVLS" : ", NVLS";
  if (text.empty()) text = "no channel in NCCL's log";
  if (!network.empty()) text += "; network " + network;
  text += gdrcopy.empty() ? "; GDRCopy is off (NCCL_GDRCOPY_ENABLE=1 turns it on)" : "; GDRCopy is on, " + gdrcopy;
  return text;
}

PathLog::PathLog() {
  if (std::getenv("NCCL_DEBUG") != nullptr || std::getenv("NCCL_DEBUG_FILE") != nullptr) return;
  // The file has no name in any directory, so it disappears when the process ends.
  file_ = base::UniqueFd(base::open_memory_file("nccl_log"));
  if (!file_) return;
  (void)::setenv("NCCL_DEBUG", "INFO", 1);
  (void)::setenv("NCCL_DEBUG_FILE", ("/proc/self/fd/" + std::to_string(file_.get())).c_str(), 1);
}

std::string PathLog::text() const {
  if (!file_) return "unknown, because NCCL_DEBUG or NCCL_DEBUG_FILE is set";
  std::string log;
  char bytes[4096];
  for (;;) {
    const ssize_t size = ::pread(file_.get(), bytes, sizeof bytes, static_cast<off_t>(log.size()));
    if (size <= 0) break;
    log.append(bytes, static_cast<std::size_t>(size));
  }
  return parse_nccl_log(log).text();
}

std::string ucx_lanes_in(const std::string& printed) {
  std::string lanes;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find("]:");
    if (line.find(" lane[") == std::string::npos || colon == std::string::npos) continue;
    // "0:self/memory0.0 md[0] -> md[0]/self/sysdev[255] seg 8192 am am_bw#0": resource, device, size of a segment
    // (newer UCX; 4294967295 is unset), and the lane's uses.
    std::istringstream words(line.substr(colon + 2));
    std::string name;
    words >> name;
    name = name.substr(name.find(':') + 1);
    name = name.substr(0, name.rfind('.'));
    std::string uses;
    bool is_behind_device = false;
    for (std::string word; words >> word;) {
      if (is_behind_device && word == "seg") {
        words >> word;
        continue;
      }
      if (is_behind_device) uses += (uses.empty() ? "" : " ") + word.substr(0, word.find('#'));
      is_behind_device = is_behind_device || word.find("sysdev") != std::string::npos;
    }
    lanes += (lanes.empty() ? "" : ", ") + name + (uses.empty() ? "" : " (" + uses + ")");
  }
  return lanes;
}

bool has_ucx_domain(const std::string& printed, const std::string& domain) {
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    // "# md 3 : component 3 posix "
    std::istringstream words(line);
    std::string word;
    bool is_domain = false;
    for (int at = 0; words >> word; ++at) {
      if (at == 1) is_domain = word == "md";
      if (is_domain && at > 1 && word == domain) return true;
    }
  }
  return false;
}

std::string describe_ranks_without_hooks(const std::vector<double>& is_hooked) {
  std::string ranks;
  for (std::size_t rank = 0; rank < is_hooked.size(); ++rank) {
    if (is_hooked[rank] == 0) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (ranks.empty()) return "";
  return "; UCX could not hook CUDA's allocation functions in rank " + ranks +
         ", so it registers GPU memory again for every message (with gdr_copy: pin and unpin); try "
         "UCX_MEM_CUDA_HOOK_MODE=reloc";
}

std::string describe_ucx_path(const platform::UcxCalls& calls, platform::UcxContext* context,
                              platform::UcxEndpoint* endpoint, bool supports_gpu) {
  const char* const transports = std::getenv("UCX_TLS");
  const std::string lanes = ucx_lanes_in(printed_by(ucx_print(calls, "ucp_ep_print_info"), endpoint));
  std::string text = lanes.empty() ? "lanes unknown" : lanes;
  text += std::string("; UCX_TLS=") + (transports == nullptr ? "(UCX's choice)" : transports) +
          (supports_gpu ? ", with CUDA support" : ", without CUDA support");
  if (supports_gpu) {
    const bool has_gdr_copy =
        has_ucx_domain(printed_by(ucx_print(calls, "ucp_context_print_info"), context), "gdr_copy");
    const std::string file = loaded_gdrapi();
    text += has_gdr_copy ? "; gdr_copy is open, with " + (file.empty() ? "an unknown libgdrapi" : file)
                         : "; gdr_copy is not open (this UCX lacks it, UCX_TLS excludes it, or libgdrapi cannot run)";
  }
  return text + "; UCX_PROTO_INFO=y prints the protocol of each size";
}

}  // namespace gdrkit::transfer::engines
