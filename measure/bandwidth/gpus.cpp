// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bandwidth/gpus.hpp"

#include <utility>

#include "cli/interface/demand.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

std::vector<std::unique_ptr<platform::Device>> open_all(const cli::DeviceChoice& choice) {
  const auto count = choice.is_emulated ? platform::emulated_device_count() : platform::cuda_device_count();
  if (!count.has_value())
    throw cli::Failure(choice.is_emulated ? cli::ExitCode::usage : cli::ExitCode::cannot_run, count.error().text());
  std::vector<std::unique_ptr<platform::Device>> devices;
  for (int number = 0; number < *count; ++number) devices.push_back(cli::open_device(choice, number));
  return devices;
}

}  // namespace

Gpus::Gpus(const cli::DeviceChoice& choice, const cli::NumaChoice& nodes) : Gpus(open_all(choice), nodes) {}

Gpus::Gpus(std::vector<std::unique_ptr<platform::Device>> devices, const cli::NumaChoice& nodes) : nodes_(nodes) {
  for (auto& device : devices) {
    cli::demand(device->make_current());
    Gpu gpu{nullptr, std::nullopt, "", cli::placement_for(*device)};
    using platform::GpuKernel;
    auto kernels = platform::GpuKernels::load<GpuKernel::chase, GpuKernel::copy, GpuKernel::gate>(*device);
    if (kernels.has_value()) {
      gpu.kernels.emplace(std::move(*kernels));
    } else {
      gpu.why_no_kernels = kernels.error().text();
    }
    gpu.device = std::move(device);
    gpus_.push_back(std::move(gpu));
  }
  enable_peers();
}

void Gpus::enable_peers() {
  reaches_.assign(gpus_.size() * gpus_.size(), false);
  for (int runner = 0; runner < count(); ++runner) {
    for (int other = 0; other < count(); ++other) {
      if (other == runner) continue;
      platform::Device& peer = *gpus_[static_cast<std::size_t>(other)].device;
      const auto can = current(runner).can_access_peer(peer);
      // A pair for which the driver then refuses peer access counts as one without.
      if (can.has_value() && *can)
        reaches_[index(runner, other)] = current(runner).enable_peer_access(peer).has_value();
    }
  }
}

platform::Device& Gpus::current(int number) {
  platform::Device& device = *gpus_[static_cast<std::size_t>(number)].device;
  cli::demand(device.make_current());
  return device;
}

platform::GpuKernels& Gpus::kernels(int number) {
  (void)current(number);
  auto& kernels = gpus_[static_cast<std::size_t>(number)].kernels;
  if (!kernels.has_value()) cli::fail(gpus_[static_cast<std::size_t>(number)].why_no_kernels);
  return *kernels;
}

std::string Gpus::unreachable_pairs() const {
  std::string text;
  for (int runner = 0; runner < count(); ++runner) {
    for (int other = 0; other < count(); ++other) {
      if (other == runner || reaches(runner, other)) continue;
      text += (text.empty() ? "" : ", ") + cli::format("GPU %d -> GPU %d", runner, other);
    }
  }
  return text;
}

std::string Gpus::why_no_kernels() const {
  for (const Gpu& gpu : gpus_) {
    if (!gpu.why_no_kernels.empty()) return gpu.why_no_kernels;
  }
  return {};
}

const platform::Placed& Gpus::settle_near(int number) {
  if (settled_near_ != number) placed_ = cli::place(nodes_, &gpus_[static_cast<std::size_t>(number)].placement);
  settled_near_ = number;
  return placed_;
}

}  // namespace gdrkit::measure::bandwidth
