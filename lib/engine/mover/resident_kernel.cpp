// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/mover/resident_kernel.hpp"

#include <algorithm>
#include <new>

#include "driver/cuda.hpp"

// The PTX text, which the driver compiles for its GPU (compute capability 7.0 and newer); the byte behind it ends
// the text.
asm(".section .rodata\n"
    ".hidden gdrkit_mover_ptx\n"
    ".global gdrkit_mover_ptx\n"
    "gdrkit_mover_ptx:\n"
    ".incbin \"" GDRKIT_MOVER_PTX_FILE
    "\"\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char gdrkit_mover_ptx[];

namespace gdrkit::engine::mover {
namespace {

constexpr const char* entry_name = "gdrkit_mover";
constexpr const char* open_operation = "cannot open copy engine 'mover'";
constexpr std::uint32_t launch_mask = 0x7fffffff;  // what a status word has room for
constexpr std::size_t status_bytes = 4096;

base::Status refuse_shared_gpu(const Gpu& gpu) noexcept {
  constexpr int compute_mode = 20;        // CU_DEVICE_ATTRIBUTE_COMPUTE_MODE; 0: any number of processes
  constexpr int unified_addressing = 41;  // CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
  constexpr int mps_enabled = 133;        // CU_DEVICE_ATTRIBUTE_MPS_ENABLED, CUDA 12.4 on
  const auto mode = gpu.attribute(compute_mode);
  const auto unified = gpu.attribute(unified_addressing);
  const auto mps = gpu.attribute(mps_enabled);
  if (!mode) return base::pass(mode);
  if (!unified) return base::pass(unified);
  if (!mps) {
    return base::fail(
        EOPNOTSUPP,
        "%s: the driver does not report whether MPS is active (cuDeviceGetAttribute: %s); update the driver",
        open_operation, driver::cuda_result_name(mps.error().vendor_code));
  }
  if (*mode != 0) {
    return base::fail(EOPNOTSUPP, "%s: the GPU is in compute mode %d; set the default mode (nvidia-smi -c DEFAULT)",
                      open_operation, *mode);
  }
  if (*mps != 0) {
    return base::fail(EOPNOTSUPP, "%s: MPS is active on this GPU; use copy engine 'copy_engine'", open_operation);
  }
  if (*unified == 0)
    return base::fail(EOPNOTSUPP, "%s: the GPU has no unified addressing; use copy engine 'copy_engine'",
                      open_operation);
  return {};
}

}  // namespace

base::Result<std::unique_ptr<ResidentKernel>> ResidentKernel::open(Gpu& gpu, const ResidenceLimits& limits) noexcept {
  const driver::CudaCalls& calls = gpu.calls();
  if (calls.module_load_data == nullptr || calls.module_get_function == nullptr || calls.module_unload == nullptr ||
      calls.launch_kernel == nullptr || calls.stream_is_capturing == nullptr) {
    return base::fail(EOPNOTSUPP, "%s: libcuda lacks required functions; update the NVIDIA driver", open_operation);
  }
  if (limits.blocks == 0 || limits.blocks > most_blocks) {
    return base::fail(EINVAL, "%s: invalid number of blocks %u; use 1 to %u", open_operation, limits.blocks,
                      most_blocks);
  }
  if (base::Status allowed = refuse_shared_gpu(gpu); !allowed) return base::pass(allowed);
  std::unique_ptr<ResidentKernel> resident(new (std::nothrow) ResidentKernel(gpu, limits));
  if (resident == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engine 'mover'");
  if (base::Status loaded = resident->load(); !loaded) return base::pass(loaded);
  return resident;
}

base::Status ResidentKernel::load() noexcept {
  const auto scope = gpu_.enter();
  if (!scope) return base::pass(scope);
  auto memory = PinnedMemory::make(gpu_, status_bytes);
  if (!memory) return base::pass(memory);
  status_ = std::move(*memory);
  const driver::CudaCalls& calls = gpu_.calls();
  if (const int result = calls.module_load_data(&module_, gdrkit_mover_ptx); result != 0) {
    module_ = nullptr;
    return driver::cuda_failure(result, "%s: cuModuleLoadData", open_operation);
  }
  if (const int result = calls.module_get_function(&function_, module_, entry_name); result != 0) {
    return driver::cuda_failure(result, "%s: cuModuleGetFunction", open_operation);
  }
  if (const int result = calls.stream_create(&stream_, driver::cuda_stream_non_blocking); result != 0) {
    stream_ = nullptr;
    return driver::cuda_failure(result, "%s: cuStreamCreate", open_operation);
  }
  return {};
}

ResidentKernel::~ResidentKernel() {
  const driver::CudaCalls& calls = gpu_.calls();
  const auto scope = gpu_.enter();  // if it fails, the destructor still releases what it can
  if (stream_ != nullptr) {
    (void)calls.stream_synchronize(stream_);  // in any case: the blocks write to status_
    (void)calls.stream_destroy(stream_);
  }
  if (module_ != nullptr) (void)calls.module_unload(module_);
}

void ResidentKernel::abandon() noexcept {
  stream_ = nullptr;
  module_ = nullptr;
  status_.leak();
}

base::Status ResidentKernel::refuse_during_capture() const noexcept {
  constexpr int capture_implicit = 906;  // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: some stream of the context captures
  void* const legacy_stream = reinterpret_cast<void*>(1);
  int is_capturing = 0;
  const int result = gpu_.calls().stream_is_capturing(legacy_stream, &is_capturing);
  if (result == 0 && is_capturing == 0) return {};
  if (result == 0 || result == capture_implicit) {
    return base::fail_vendor(
        EAGAIN, result,
        "cannot start copy engine 'mover' during the capture of a CUDA graph; copy before or after the capture");
  }
  return driver::cuda_failure(result, "cannot start the GPU kernel of copy engine 'mover': cuStreamIsCapturing");
}

base::Status ResidentKernel::launch(std::uint64_t lines, std::uint32_t first_tag) noexcept {
  const auto scope = gpu_.enter();
  if (!scope) return base::pass(scope);
  if (base::Status allowed = refuse_during_capture(); !allowed) return allowed;
  const std::uint32_t number = std::max(1u, (launch_number() + 1) & launch_mask);
  Parameters parameters{lines,
                        status_.device_address(),
                        first_tag,
                        number,
                        static_cast<std::uint64_t>(limits_.idle.count()),
                        static_cast<std::uint64_t>(limits_.busy.count())};
  void* list[] = {&parameters};
  const int result =
      gpu_.calls().launch_kernel(function_, limits_.blocks, 1, 1, threads_per_block, 1, 1, 0, stream_, list, nullptr);
  if (result != 0)
    return driver::cuda_failure(result, "cannot start the GPU kernel of copy engine 'mover': cuLaunchKernel");
  launch_.store(number, std::memory_order_release);
  return {};
}

Status ResidentKernel::status_of(unsigned block) const noexcept {
  auto* const words = reinterpret_cast<std::uint64_t*>(status_.bytes());
  // Acquire: who sees a command's tag here sees what its block moved to host memory.
  return Status::of(std::atomic_ref(words[block]).load(std::memory_order_acquire));
}

ResidentKernel::Phase ResidentKernel::phase() const noexcept {
  const std::uint32_t launch = launch_number();
  if (launch == 0) return Phase::none;
  unsigned ended = 0;
  for (unsigned block = 0; block < limits_.blocks; ++block) {
    const Status status = status_of(block);
    if (status.launch != launch) return Phase::starting;
    ended += status.has_ended ? 1 : 0;
  }
  if (ended == 0) return Phase::running;
  return ended == limits_.blocks ? Phase::ended : Phase::ending;
}

ResidentKernel::Progress ResidentKernel::progress(std::uint32_t launch, std::uint32_t tag) const noexcept {
  bool is_done = true;
  bool has_ended = true;
  for (unsigned block = 0; block < limits_.blocks; ++block) {
    const Status status = status_of(block);
    // A later launch starts when all of this one has ended; the progress of this block is lost.
    if (status.launch != launch) return Progress::lost;
    is_done = is_done && static_cast<std::int32_t>(status.done - tag) >= 0;
    has_ended = has_ended && status.has_ended;
  }
  if (is_done) return Progress::done;
  return has_ended ? Progress::lost : Progress::waiting;
}

base::Status ResidentKernel::check_gpu() const noexcept {
  const auto scope = gpu_.enter();
  if (!scope) return base::pass(scope);
  const int result = gpu_.calls().stream_query(stream_);
  if (result == 0 || result == driver::cuda_error_not_ready) return {};
  return base::fail_vendor(EIO, result,
                           "cannot use copy engine 'mover': the GPU aborted the work of this process (cuStreamQuery: "
                           "%s); restart the process",
                           driver::cuda_result_name(result));
}

}  // namespace gdrkit::engine::mover
