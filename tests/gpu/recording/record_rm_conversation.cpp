// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Records the calls of the rm backend to this machine's driver and libcuda: one file for each flow, in
// <directory>/<driver>-<gpu>/. Exits with 77 if there is no GPU.
#include <cctype>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "base/result.hpp"
#include "driver/cuda.hpp"
#include "driver/driver_version.hpp"
#include "driver/system.hpp"
#include "fakes/raw_rm.hpp"
#include "fakes/recording/flows.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::fakes {
namespace {

constexpr int cannot_run_here = 77;

/// Returns the value, or ends the recording.
template <class T>
T need(base::Result<T> result, const char* step) {
  if (!result) throw std::runtime_error(std::string(step) + ": " + result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void check(int result, const char* call) {
  if (result != 0) throw std::runtime_error(std::string(call) + ": " + driver::cuda_result_name(result));
}

/// Handles mapped next to each other in one reservation, which Device does not support.
class MappedHandles {
 public:
  MappedHandles(const platform::CudaCalls& calls, const Flow& flow) : calls_(calls), bytes_(flow.bytes()) {
    int device = 0;
    check(calls_.device_get(&device, flow.ordinal), "cuDeviceGet");
    platform::CudaMemAllocationProp properties;
    properties.type = platform::cuda_mem_allocation_type_pinned;
    properties.requested_handle_types = flow.is_exportable ? platform::cuda_mem_handle_type_posix_fd : 0;
    properties.location = {platform::cuda_mem_location_type_device, device};
    check(calls_.mem_address_reserve(&address_, bytes_, 0, 0, 0), "cuMemAddressReserve");
    for (const std::uint64_t part : flow.part_bytes) {
      std::uint64_t handle = 0;
      check(calls_.mem_create(&handle, part, &properties, 0), "cuMemCreate");
      check(calls_.mem_map(address_ + mapped_, part, 0, handle, 0), "cuMemMap");
      check(calls_.mem_release(handle), "cuMemRelease");
      mapped_ += part;
    }
    const platform::CudaMemAccessDesc access{{platform::cuda_mem_location_type_device, device},
                                             platform::cuda_mem_access_read_write};
    check(calls_.mem_set_access(address_, bytes_, &access, 1), "cuMemSetAccess");
  }
  ~MappedHandles() {
    calls_.mem_unmap(address_, mapped_);
    calls_.mem_address_free(address_, bytes_);
  }
  MappedHandles(const MappedHandles&) = delete;
  MappedHandles& operator=(const MappedHandles&) = delete;

  [[nodiscard]] std::uint64_t address() const { return address_; }

 private:
  const platform::CudaCalls& calls_;
  std::uint64_t bytes_;
  std::uint64_t address_ = 0;
  std::uint64_t mapped_ = 0;
};

/// The machine, with all of its visible GPUs.
class Machine {
 public:
  Machine() : system_(driver::real_system()) {
    calls_ = need(platform::cuda_calls(), "libcuda");
    const int count = need(platform::cuda_device_count(), "CUDA devices");
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      devices_.push_back(need(platform::open_cuda_device(ordinal), "CUDA device"));
    }
    char text[512] = {};
    const ssize_t size = system_.read_text("/proc/driver/nvidia/version", text, sizeof text);
    driver_ = need(driver::find_version_text({text, static_cast<std::size_t>(size > 0 ? size : 0)}), "driver version");
    int cuda_version = 0;
    check(calls_->driver_get_version(&cuda_version), "cuDriverGetVersion");
    description_ = describe_machine(system_, driver_, cuda_version, cards_of_ordinals());
  }

  [[nodiscard]] std::size_t gpus() const { return devices_.size(); }
  [[nodiscard]] std::string directory_name() const {
    std::string name = driver_ + "-" + devices_.front()->identity().name;
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '-';
    return name;
  }

  Conversation record(const Flow& flow) {
    platform::Device& device = *devices_[static_cast<std::size_t>(flow.ordinal)];
    need(device.make_current(), "cuCtxSetCurrent");
    if (flow.kind == CudaKind::vmm) {
      const MappedHandles memory(*calls_, flow);
      return record_at(flow, device, memory.address(), [] {});
    }
    // Occupies the start of the block that small allocations share.
    const auto first = need(device.allocate(platform::AllocationKind::cuda_malloc, 4096), "allocation");
    auto memory = need(device.allocate(kind_of(flow), flow.bytes()), "allocation");
    return record_at(flow, device, memory.address(), [&] {
      if (flow.is_freed_first) need(memory.free(), "cuMemFree");
    });
  }

 private:
  static platform::AllocationKind kind_of(const Flow& flow) {
    switch (flow.kind) {
      case CudaKind::pool: return platform::AllocationKind::pool;
      case CudaKind::managed: return platform::AllocationKind::managed;
      case CudaKind::host: return platform::AllocationKind::host;
      default: return platform::AllocationKind::cuda_malloc;
    }
  }

  Conversation record_at(const Flow& flow, platform::Device& device, std::uint64_t address,
                         const std::function<void()>& before_pin) {
    const bool is_device_memory = flow.kind != CudaKind::managed && flow.kind != CudaKind::host;
    if (is_device_memory && flow.is_plain) need(device.fill(address, 0, flow.bytes()), "cuMemsetD8");
    if (is_device_memory && !flow.is_plain) {
      const auto content = distinct_words(flow.bytes(), 1);
      need(device.copy_to_device(address, content.data(), content.size()), "cuMemcpyHtoD");
    }
    return record_flow(flow, system_, *calls_, description_, address, before_pin);
  }

  /// Returns the driver's index of the GPU behind each CUDA ordinal.
  std::vector<unsigned> cards_of_ordinals() {
    RawRm raw(system_);
    std::array<std::uint8_t, 32 * 72> list{};
    check(raw.call(raw.control_file(), command::card_info, list) == 0 ? 0 : 999, "CARD_INFO");
    system_.close(raw.control_file());
    std::vector<unsigned> cards;
    for (const auto& device : devices_) {
      const auto& identity = device->identity();
      for (unsigned i = 0; i < 32; ++i) {
        const std::uint8_t* card = list.data() + 72 * std::size_t{i};
        const bool is_same = card[0] != 0 && get<std::uint32_t>(card, 4) == identity.pci_domain &&
                             card[8] == identity.pci_bus && card[9] == identity.pci_device;
        if (is_same) cards.push_back(i);
      }
    }
    return cards;
  }

  driver::System& system_;
  const driver::CudaCalls* calls_ = nullptr;
  std::vector<std::unique_ptr<platform::Device>> devices_;
  std::string driver_;
  Conversation description_;
};

int record_all(const char* directory) {
  const auto count = platform::cuda_device_count();
  if (!count || *count == 0) {
    std::fprintf(stderr, "no GPU: %s\n", count ? "CUDA found none" : count.error().text());
    return cannot_run_here;
  }
  Machine machine;
  const std::filesystem::path target = std::filesystem::path(directory) / machine.directory_name();
  std::filesystem::create_directories(target);
  int failures = 0;
  for (const Flow& flow : recorded_flows()) {
    if (static_cast<std::size_t>(flow.ordinal) >= machine.gpus()) {
      std::printf("%-24s skipped: requires a second GPU\n", flow.name);
      continue;
    }
    try {
      const Conversation conversation = machine.record(flow);
      const std::string path = (target / (std::string(flow.name) + ".txt")).string();
      if (!conversation.save(path)) throw std::runtime_error("cannot write " + path);
      std::printf("%-24s %3zu calls, %s\n", flow.name, conversation.calls.size(),
                  conversation.header_line("outcome").line().c_str());
    } catch (const std::exception& error) {
      std::printf("%-24s FAILED: %s\n", flow.name, error.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gdrkit::fakes

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: record_rm_conversation DIRECTORY\n");
    return 2;
  }
  try {
    return gdrkit::fakes::record_all(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
