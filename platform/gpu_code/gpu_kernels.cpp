// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/gpu_kernels.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace gdrkit::platform {
namespace {

constexpr unsigned most_played_blocks = 1024;  // on the emulated device, where one thread emulates all blocks
constexpr unsigned most_threads = 1024;        // in a block, on every existing GPU

/// "NVIDIA H200 (compute capability 9.0)"
struct GpuText {
  explicit GpuText(Device& device) noexcept {
    const auto major = device.attribute(DeviceAttribute::compute_capability_major);
    const auto minor = device.attribute(DeviceAttribute::compute_capability_minor);
    if (major && minor) {
      std::snprintf(text, sizeof text, "%s (compute capability %d.%d)", device.identity().name, *major, *minor);
    } else {
      std::snprintf(text, sizeof text, "%s (compute capability unknown)", device.identity().name);
    }
  }
  char text[320];
};

/// What to do after cuModuleLoadData failed with this CUresult; "" if unknown.
struct LoadRemedy {
  explicit LoadRemedy(int result) noexcept {
    constexpr int invalid_image = 200, no_binary_for_gpu = 209, invalid_ptx = 218;
    constexpr int jit_compiler_not_found = 221, unsupported_ptx_version = 222;
    const char* const architectures = embedded_gpu_architectures();
    switch (result) {
      case invalid_image:
      case no_binary_for_gpu:
      case invalid_ptx:
        std::snprintf(text, sizeof text,
                      "; use a supported GPU (this gdrkit contains %s%sPTX for compute capability 7.0 and newer)",
                      architectures, architectures[0] != '\0' ? ", and " : "");
        break;
      case jit_compiler_not_found:
        std::snprintf(text, sizeof text, "; install the driver's libnvidia-ptxjitcompiler");
        break;
      case unsupported_ptx_version: std::snprintf(text, sizeof text, "; update the NVIDIA driver"); break;
      default: break;
    }
  }
  char text[320] = "";
};

/// The head of a fat binary: magic, version, size of the head, and number of the bytes after it.
struct FatBinaryHead {
  static constexpr std::uint32_t expected_magic = 0xba55ed50;
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t head_bytes;
  std::uint64_t body_bytes;
};

bool is_ptx(GpuImage image) noexcept {
  const auto* text = static_cast<const char*>(image.bytes);
  return image.size_bytes != 0 && std::memchr(text, 0, image.size_bytes) == text + image.size_bytes - 1 &&
         std::strstr(text, ".version") != nullptr;
}

/// cuModuleLoadData takes no size, so a truncated image must be detected before the driver reads past its end.
base::Status check_image(GpuImage image) noexcept {
  if (is_ptx(image)) return {};
  FatBinaryHead head{};
  if (image.size_bytes < sizeof head) {
    return base::fail(
        ENOEXEC, "cannot load gdrkit's GPU kernels: the built-in image has only %zu bytes; rebuild or reinstall gdrkit",
        image.size_bytes);
  }
  std::memcpy(&head, image.bytes, sizeof head);
  if (head.magic != FatBinaryHead::expected_magic || head.head_bytes < sizeof head) {
    return base::fail(ENOEXEC,
                      "cannot load gdrkit's GPU kernels: the built-in image is neither PTX nor a fat binary (it begins "
                      "with 0x%08x); rebuild or reinstall gdrkit",
                      head.magic);
  }
  if (head.body_bytes > image.size_bytes - std::min<std::size_t>(head.head_bytes, image.size_bytes)) {
    return base::fail(ENOEXEC,
                      "cannot load gdrkit's GPU kernels: the built-in image is truncated (%zu of %llu bytes); rebuild "
                      "or reinstall gdrkit",
                      image.size_bytes, static_cast<unsigned long long>(head.head_bytes + head.body_bytes));
  }
  return {};
}

}  // namespace

const char* gpu_kernel_name(GpuKernel kernel) noexcept {
  constexpr const char* names[] = {
#define GDRKIT_GPU_KERNEL(name, Parameters) #name,
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL
  };
  return names[static_cast<std::size_t>(kernel)];
}

GpuKernels::GpuKernels(Device& device) noexcept : device_(&device) {
  if (device.is_emulated()) {
    resident_blocks_ = most_played_blocks;
  } else if (const auto count = device.attribute(DeviceAttribute::multiprocessor_count); count && *count > 0) {
    resident_blocks_ = static_cast<unsigned>(*count);
  }
}

GpuKernels::GpuKernels(GpuKernels&& other) noexcept : device_(other.device_), resident_blocks_(other.resident_blocks_) {
  for (int index = 0; index < gpu_kernel_count; ++index) {
    loaded_[index].module = std::exchange(other.loaded_[index].module, {});
    loaded_[index].function = other.loaded_[index].function;
    loaded_[index].is_there.store(other.loaded_[index].is_there.exchange(false));
  }
}

GpuKernels::~GpuKernels() {
  for (const Loaded& loaded : loaded_) {
    if (loaded.module.handle != 0) (void)device_->unload_module(loaded.module);
  }
}

base::Status GpuKernels::prepare(GpuKernel kernel, const GpuImages& images) noexcept {
  Loaded& loaded = loaded_[static_cast<std::size_t>(kernel)];
  if (device_->is_emulated() || loaded.is_there.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  if (loaded.is_there.load(std::memory_order_relaxed)) return {};
  // A fat binary may lack this GPU, or be too new for the driver. PTX of an old version has neither problem.
  base::Status done = base::fail_literal(
      ENOEXEC, "cannot load gdrkit's GPU kernels: this build contains none; rebuild gdrkit with them");
  if (images.fat_binary.size_bytes != 0) done = load_image(kernel, images.fat_binary, &loaded);
  if (!done) done = load_image(kernel, images.ptx, &loaded);
  if (!done) return done;
  loaded.is_there.store(true, std::memory_order_release);  // pairs with the load above, for module and function
  return {};
}

base::Status GpuKernels::load_image(GpuKernel kernel, GpuImage image, Loaded* loaded) noexcept {
  if (auto checked = check_image(image); !checked) return checked;
  const auto module = device_->load_module(image.bytes);
  if (!module) {
    const base::Error& error = module.error();
    return base::fail_vendor(error.errno_value, error.vendor_code, "cannot load the GPU kernel '%s' on %s: %s%s",
                             gpu_kernel_name(kernel), GpuText(*device_).text, error.text(),
                             LoadRemedy(error.vendor_code).text);
  }
  char symbol[64];
  std::snprintf(symbol, sizeof symbol, "gdrkit_%s", gpu_kernel_name(kernel));
  const auto function = device_->get_function(*module, symbol);
  base::Status done = function ? device_->load_function(*function) : base::status_of(function);
  if (!done && function && done.error().errno_value == ENOSYS) done = {};
  if (!done) {
    (void)device_->unload_module(*module);
    return done;
  }
  loaded->module = *module;
  loaded->function = *function;
  return {};
}

base::Status GpuKernels::check_shape(GpuKernel kernel, LaunchShape shape) noexcept {
  if (shape.blocks != 0 && shape.threads != 0 && shape.threads <= most_threads) return {};
  return base::fail(EINVAL,
                    "cannot launch GPU kernel '%s': invalid shape of %u blocks of %u threads; use at least one block "
                    "of 1 to %u threads",
                    gpu_kernel_name(kernel), shape.blocks, shape.threads, most_threads);
}

#define GDRKIT_GPU_KERNEL(name, Parameters)                      \
  template <>                                                    \
  base::Status GpuKernels::prepare<GpuKernel::name>() noexcept { \
    return prepare(GpuKernel::name, images_of_##name());         \
  }
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

}  // namespace gdrkit::platform
