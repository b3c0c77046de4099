// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FakeCudaDriver: plays the CUDA driver for Device on ordinary memory, counts what is live, and can fail any one call.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/device/cuda_calls.hpp"

namespace gdrkit::tests {

/// The only image that this driver takes; it holds one GPU kernel, "store_word".
inline constexpr const char* fake_image = "image of store_word";
/// Where GPU kernels see host memory, away from where the CPU does.
inline constexpr std::uint64_t device_address_distance = std::uint64_t{1} << 40;

class FakeCudaDriver {
 public:
  /// The one that the functions in calls() speak to; they carry no context of their own.
  static FakeCudaDriver& instance();
  static const platform::CudaCalls& calls();

  /// As new; memory that was never given back goes, too.
  void reset();
  /// Counts a call and says whether it is the one to fail.
  int enter(const std::string& name);

  int fail_at = -1;  ///< index of the call to fail, of those made since reset
  int failure = 2;   ///< with this CUresult
  int device_count = 2;
  std::vector<std::string> log;
  std::map<std::uint64_t, std::size_t> memory;  ///< live cuMemAlloc, managed, pool memory
  std::set<std::uint64_t> host_memory;
  std::map<std::uint64_t, std::size_t> reservations;
  std::set<std::uint64_t> handles;
  std::map<std::uint64_t, std::size_t> mappings;
  std::set<void*> streams;
  std::map<void*, int> events;  ///< with the call at which each was recorded, or -1
  std::set<void*> modules;
  std::set<void*> registered;  ///< host memory
  std::set<void*> peers;       ///< contexts that access was enabled to
  std::pair<void*, void*> last_peer_copy;
  bool takes_any_image = false;               ///< and finds any name in it; launches only note their parameters
  std::vector<std::string> functions;         ///< names asked for
  std::vector<std::uint8_t> last_parameters;  ///< of a launch: so many bytes of the first, as this holds before
  unsigned last_blocks = 0;
  unsigned last_threads = 0;
  bool is_busy = false;  ///< what cuStreamQuery says
  bool is_capturing = false;
  int capture_mode = 0;  ///< of the one thread
  std::vector<int> capture_modes_of_loads;
  int retained = 0;
  void* current_context = nullptr;
  platform::CudaMemAllocationProp last_properties;
  bool is_accessible = false;  ///< the last mapping was given access

  /// Nothing that this driver gave out is still held.
  [[nodiscard]] bool is_clean() const {
    return memory.empty() && host_memory.empty() && reservations.empty() && handles.empty() && mappings.empty() &&
           streams.empty() && events.empty() && modules.empty() && registered.empty() && retained == 0;
  }
};

}  // namespace gdrkit::tests
