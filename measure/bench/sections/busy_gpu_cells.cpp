// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// busy_gpu: copies while a GPU kernel keeps every multiprocessor and the GPU's memory busy.
#include <atomic>
#include <utility>

#include "base/result.hpp"
#include "measure/bench/measure/copy_station.hpp"
#include "measure/bench/measure/copy_team.hpp"
#include "platform/gpu_code/burn_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr std::size_t scratch_bytes = std::size_t{64} << 20;
constexpr std::uint64_t limit_ns = 30'000'000'000;
constexpr unsigned threads_in_block = 512;

/// Words of host memory that both sides access.
struct Words {
  std::uint32_t stop;
  std::uint32_t end;
};

class BurningGpu final : public Disturbance {
 public:
  explicit BurningGpu(Session* session) : device_(session->device()) {
    const Elsewhere elsewhere(session->cpus());
    auto kernels = platform::GpuKernels::load<platform::GpuKernel::burn>(*device_);
    if (!kernels.has_value())
      throw CannotMeasure("cannot load the GPU kernel that keeps the GPU busy: " + std::string(kernels.error().text()));
    kernels_ = std::make_unique<platform::GpuKernels>(std::move(*kernels));
    const std::size_t bytes = device_->is_emulated() ? scratch_bytes / 16 : scratch_bytes;
    scratch_ = take(device_->allocate(platform::AllocationKind::cuda_malloc, bytes + sizeof(std::uint64_t)));
    words_memory_ = take(device_->allocate(platform::AllocationKind::host, sizeof(Words)));
    words_ = reinterpret_cast<Words*>(words_memory_.address());
    *words_ = {};
    const std::uint64_t words_on_device = take(device_->device_address(words_));
    stream_ = take(device_->create_stream());
    platform::BurnParameters parameters{};
    parameters.stop = words_on_device + offsetof(Words, stop);
    parameters.end = words_on_device + offsetof(Words, end);
    parameters.scratch = scratch_.address();
    parameters.scratch_bytes = bytes;
    parameters.passes = scratch_.address() + bytes;
    parameters.limit_ns = limit_ns;
    const auto launched = kernels_->launch(parameters, {kernels_->resident_blocks(), threads_in_block}, stream_);
    if (!launched.has_value()) {
      (void)device_->destroy_stream(stream_);
      throw CannotMeasure(std::string("cannot launch the GPU kernel that keeps the GPU busy: ") +
                          launched.error().text());
    }
  }

  ~BurningGpu() override {
    std::atomic_ref(words_->stop).store(platform::stop_word, std::memory_order_release);
    (void)device_->synchronize(stream_);
    (void)device_->destroy_stream(stream_);
  }

  [[nodiscard]] std::string complaint() const override {
    const auto end = static_cast<platform::KernelEnd>(std::atomic_ref(words_->end).load(std::memory_order_acquire));
    const auto is_finished = device_->is_finished(stream_);
    if (end == platform::KernelEnd::running && is_finished.has_value() && !*is_finished) return "";
    return "the GPU kernel that keeps the GPU busy did not run during the whole measurement";
  }

 private:
  platform::Device* device_;
  std::unique_ptr<platform::GpuKernels> kernels_;
  platform::Allocation scratch_;
  platform::Allocation words_memory_;
  Words* words_ = nullptr;
  platform::Stream stream_;
};

}  // namespace

std::vector<Cell> busy_gpu_cells(Session* session) {
  CopyScene scene;
  scene.section = "busy_gpu";
  scene.title_end = ", while the GPU is busy";
  scene.conditions = {{"gpu", "busy"}};
  scene.disturb = [=] { return std::make_unique<BurningGpu>(session); };
  (void)BurningGpu(session);  // throws now, and only once, if it is impossible
  if (session->is_emulated()) session->note("busy_gpu: a host thread emulates the busy GPU");
  return busy_cells(session, std::move(scene));
}

}  // namespace gdrkit::measure::bench
