// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// One engine of engines.def on the emulated device or on a GPU, with device memory mapped and host memory of each kind.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "copy/copier.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"
#include "fakes/emulated_cuda.hpp"
#include "fakes/patient_limits.hpp"
#include "support/device_access.hpp"
#include "support/place.hpp"
#include "support/requirements.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {

inline constexpr std::size_t engine_test_bytes = std::size_t{5} << 20;

class OnEngine : public testing::TestWithParam<engine::Registration> {
 protected:
  void SetUp() override {
    base::Result<std::unique_ptr<backend::Backend>> opened = open_backend();
    if (!opened) GDRKIT_SKIP_OR_FAIL("gpu", opened.error().text());
    backend = std::move(*opened);
    const driver::CudaCalls* calls = &fakes::emulated_cuda();
    if (is_gpu_place()) {
      calls = value_or_throw(driver::cuda_calls());
    }
    auto allocated = backend->allocate(0, engine_test_bytes);  // initialises CUDA
    if (!allocated) GDRKIT_SKIP_OR_FAIL("gpu", allocated.error().text());
    buffer = std::move(*allocated);
    gpu = value_or_throw(engine::Gpu::open(*calls, 0));
    map();
    engine::Place place{*backend, *gpu, {}};
    // Host threads that emulate the GPU sometimes wait for a CPU.
    if (!is_gpu_place()) place.residence = fakes::patient_limits();
    engine = value_or_throw(GetParam().open(place));
    const auto scope = gpu->enter();
    ASSERT_TRUE(scope);
    pinned = value_or_throw(engine::PinnedMemory::make(*gpu, engine_test_bytes));
    ordinary.resize(engine_test_bytes);
  }

  /// Returns host memory of the kind, `offset` bytes from a page.
  char* host(engine::HostMemory kind, std::size_t offset = 0) {
    return (kind == engine::HostMemory::pinned ? pinned.bytes() : ordinary.data()) + offset;
  }

  engine::Copy copy(engine::Direction direction, engine::HostMemory kind, std::size_t device_offset,
                    std::size_t host_offset, std::size_t size) {
    engine::Copy made;
    made.direction = direction;
    made.host_memory = kind;
    made.device = buffer->address() + device_offset;
    made.mapped = mapped + device_offset;
    made.host = host(kind, host_offset);
    made.size_bytes = size;
    made.copier = &copier;
    return made;
  }

  /// Repeats a copy that fails with EAGAIN: on a shared GPU an engine may lack resources for a while.
  template <class Attempt>
  static auto repeat(Attempt attempt) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    auto last = attempt();
    while (!last && last.error().errno_value == EAGAIN && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
      last = attempt();
    }
    return last;
  }
  base::Result<engine::Ticket> submit(const engine::Copy& copy) {
    return repeat([&] { return engine->submit(copy); });
  }
  base::Status run(const engine::Copy& copy) {
    return repeat([&] {
      const auto ticket = engine->submit(copy);
      return ticket ? engine->complete(*ticket) : base::Status(base::pass(ticket));
    });
  }

  [[nodiscard]] std::size_t limit(engine::HostMemory kind) const {
    const engine::Traits& traits = engine->traits();
    return kind == engine::HostMemory::pinned ? traits.largest_bytes : traits.largest_ordinary_bytes;
  }

  void put(std::size_t offset, const std::vector<std::uint8_t>& bytes) {
    ASSERT_TRUE(succeeded(buffer->copy_from_host(offset, bytes.data(), bytes.size())));
  }
  std::vector<std::uint8_t> get(std::size_t offset, std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    EXPECT_TRUE(succeeded(buffer->copy_to_host(offset, bytes.data(), size)));
    return bytes;
  }

  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<backend::BackendBuffer> buffer;
  std::unique_ptr<backend::BackendPin> pin;
  std::unique_ptr<engine::Gpu> gpu;
  std::unique_ptr<engine::Engine> engine;
  engine::PinnedMemory pinned;
  std::vector<char> ordinary;
  char* mapped = nullptr;
  copy::Copier copier;

 private:
  static base::Result<std::unique_ptr<backend::Backend>> open_backend() {
    base::Result<std::unique_ptr<backend::Backend>> last = base::fail_literal(ENODEV, "no backend");
    for (const backend::Registration& entry : backend::registrations()) {
      if (entry.automatic != is_gpu_place()) continue;
      last = entry.open({});
      if (last) return last;
    }
    return last;
  }

  void map() {
    pin = value_or_throw(backend->pin({buffer->address(), engine_test_bytes}));
    const auto region = value_or_throw(pin->map(pin->page_bytes(), backend::MappingType::none));
    mapped = static_cast<char*>(region.address) + (buffer->address() - pin->page_address());
    copier = value_or_throw(copy::choose(cpu::detect(), region.type, nullptr));
  }
};

[[nodiscard]] inline std::string engine_name(const testing::TestParamInfo<engine::Registration>& info) {
  return info.param.name;
}
#define GDRKIT_FOR_EACH_ENGINE(suite) \
  INSTANTIATE_TEST_SUITE_P(           \
      All, suite, testing::ValuesIn(engine::registrations().begin(), engine::registrations().end()), engine_name)

}  // namespace gdrkit::tests
