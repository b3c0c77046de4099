// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/tool_parts/mapped_buffer.hpp"

#include <cerrno>
#include <utility>

#include "base/result.hpp"
#include "cli/interface/device_choice.hpp"
#include "cli/interface/exit_code.hpp"
#include "cli/interface/size.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/facts/nvidia.hpp"

namespace gdrkit::measure {
namespace {

std::string call_failed(const char* call, int error) { return std::string(call) + ": " + errno_text(error); }

[[noreturn]] void refuse_size(platform::Device* device, std::size_t size_bytes, const std::string& cause,
                              cli::ExitCode code = cli::ExitCode::failed) {
  std::string text = "cannot allocate " + cli::size_text(size_bytes) + " of device memory: " + cause;
  if (const auto memory = device->memory()) {
    text += "; the device has " + cli::rough_size_text(memory->total_bytes) + ", " +
            cli::rough_size_text(memory->free_bytes) + " of it free";
  }
  throw cli::Failure(code, text + "; choose a smaller size");
}

/// For a GPU: "; BAR1 of 0000:3b:00.0 has 128 GiB". "" if unknown.
std::string bar1_text(const platform::Device& device) {
  const auto address = platform::parse_pci_address(device.identity().pci_bus_id);
  const auto gpus = platform::list_nvidia_gpus("/sys");
  if (device.is_emulated() || !address.has_value() || !gpus.has_value()) return "";
  for (const platform::NvidiaGpu& gpu : *gpus) {
    if (platform::to_string(gpu.address) != platform::to_string(*address) || gpu.bar1_size_bytes == 0) continue;
    return std::string("; BAR1 of ") + device.identity().pci_bus_id + " has " +
           cli::size_text(static_cast<std::size_t>(gpu.bar1_size_bytes)) + " for all mappings of all processes";
  }
  return "";
}

/// Lack of space for a pin or map is not a defect of the program: an error message, not an assertion.
void check_room(const AlignedAllocation& memory, const char* verb, const char* call, int result) {
  if (result != ENOMEM && result != ENOSPC) return;
  cli::fail(cli::format("cannot %s %s of device memory: ", verb, cli::size_text(memory.rounded_bytes()).c_str()) +
            call_failed(call, result) + bar1_text(memory.device()) + "; choose a smaller size, or unpin other buffers");
}

}  // namespace

std::string errno_text(int error) { return cli::format("%s (%d)", gdrkit_strerror(error), error); }

platform::AllocationKind allocation_kind(const std::string& gdrcopy_word) {
  return gdrcopy_word == allocation_mem_create ? platform::AllocationKind::vmm : platform::AllocationKind::cuda_malloc;
}

gdr_map_flags_t mapping_flag(const std::string& gdrcopy_word) {
  if (gdrcopy_word == "wc") return GDR_MAP_FLAG_REQ_WC_MAPPING;
  if (gdrcopy_word == "cache") return GDR_MAP_FLAG_REQ_CACHE_MAPPING;
  if (gdrcopy_word == "device") return GDR_MAP_FLAG_REQ_DEVICE_MAPPING;
  return GDR_MAP_FLAG_DEFAULT;
}

AlignedAllocation::AlignedAllocation(platform::Device* device, platform::AllocationKind kind, std::size_t size_bytes)
    : device_(device), size_bytes_(size_bytes) {
  GDRKIT_TOOL_ASSERT(size_bytes > 0, "cannot allocate 0 bytes of device memory");
  if (size_bytes > SIZE_MAX / 4)
    refuse_size(device, size_bytes, "the size exceeds the address space", cli::ExitCode::usage);
  rounded_bytes_ = (size_bytes + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
  // Memory of the virtual-memory calls always starts on a GPU page.
  const bool is_vmm = kind == platform::AllocationKind::vmm || kind == platform::AllocationKind::vmm_exportable;
  auto allocation = device->allocate(kind, is_vmm ? rounded_bytes_ : rounded_bytes_ + GPU_PAGE_OFFSET);
  if (!allocation.has_value()) {
    // A kind that this device or driver does not support is not a failure of the test.
    if (allocation.error().errno_value == EOPNOTSUPP) cli::cannot_run(allocation.error().text());
    if (allocation.error().errno_value == ENOMEM) refuse_size(device, rounded_bytes_, allocation.error().text());
    const int code = allocation.error().vendor_code;
    GDRKIT_TOOL_ASSERT(allocation.has_value(),
                       (code == 0 ? "" : cli::format("CUDA error: %s\n", platform::cuda_result_name(code))) +
                           allocation.error().text());
  }
  allocation_ = std::move(*allocation);
  address_ = (allocation_.address() + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
  // Done like in GDRCopy's tools for cuMemAlloc memory, in case a copy is timed. Memory of the virtual-memory calls
  // does not support the attribute (CUDA 13.0 returns NOT_SUPPORTED), and pools may not. The compared copies always
  // wait for completion.
  if (kind == platform::AllocationKind::cuda_malloc) {
    const auto synchronous = device->set_sync_memops(allocation_.address());
    GDRKIT_TOOL_ASSERT(synchronous.has_value(), synchronous.error().text());
  }
}

void AlignedAllocation::free() {
  const auto freed = allocation_.free();
  GDRKIT_TOOL_ASSERT(freed.has_value(), freed.error().text());
}

DropIn open_drop_in() {
  DropIn context(gdr_open());
  if (context == nullptr) {
    cli::cannot_run("gdr_open error: Is gdrdrv driver installed and loaded?\nNo backend can be used:\n" +
                    cli::why_no_backend());
  }
  return context;
}

MappedBuffer::MappedBuffer(const AlignedAllocation& memory, gdr_map_flags_t mapping_type)
    : context_(open_drop_in()), mapped_bytes_(memory.rounded_bytes()) {
  const int pin_result = gdr_pin_buffer(context_.get(), memory.address(), mapped_bytes_, 0, 0, &handle_);
  check_room(memory, "pin", "gdr_pin_buffer", pin_result);
  GDRKIT_TOOL_ASSERT(pin_result == 0, call_failed("gdr_pin_buffer", pin_result));
  const int map_result = gdr_map_v2(context_.get(), handle_, &mapping_, mapped_bytes_, mapping_type);
  check_room(memory, "map", "gdr_map_v2", map_result);
  const bool is_of_no_such_type = map_result == EOPNOTSUPP && mapping_type != GDR_MAP_FLAG_DEFAULT;
  GDRKIT_TOOL_ASSERT(map_result == 0,
                     call_failed("gdr_map_v2", map_result) +
                         (is_of_no_such_type ? "\nthe backend does not support this mapping type; omit -M" : ""));
  const int info_result = gdr_get_info(context_.get(), handle_, &info_);
  GDRKIT_TOOL_ASSERT(info_result == 0, call_failed("gdr_get_info", info_result));
  page_offset_ = memory.address() - info_.va;
}

std::string MappedBuffer::mapping_type() const {
  const char* text = "";
  (void)gdr_get_mapping_type_string(info_.mapping_type, &text);
  return text;
}

void MappedBuffer::unmap() {
  const int result = gdr_unmap(context_.get(), handle_, mapping_, mapped_bytes_);
  GDRKIT_TOOL_ASSERT(result == 0, call_failed("gdr_unmap", result));
  mapping_ = nullptr;
}

void MappedBuffer::unpin() {
  const int result = gdr_unpin_buffer(context_.get(), handle_);
  GDRKIT_TOOL_ASSERT(result == 0, call_failed("gdr_unpin_buffer", result));
}

void MappedBuffer::close() {
  const int result = gdr_close(context_.release());
  GDRKIT_TOOL_ASSERT(result == 0, call_failed("gdr_close", result));
}

}  // namespace gdrkit::measure
