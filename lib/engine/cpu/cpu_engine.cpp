// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The engine cpu: the mapping's copy kernels on the calling thread; a copy is over when submit() returns.
#include <cstdint>
#include <new>

#include "engine/engine.hpp"

namespace gdrkit::engine {
namespace {

class CpuEngine final : public Engine {
 public:
  [[nodiscard]] const Traits& traits() const noexcept override {
    static constexpr Traits own = {"cpu", false, SIZE_MAX, SIZE_MAX, UINT32_MAX};
    return own;
  }
  [[nodiscard]] base::Result<Ticket> submit(const Copy& copy) noexcept override {
    switch (copy.direction) {
      case Direction::to_device: copy.copier->to_device(copy.mapped, copy.host, copy.size_bytes); return Ticket{0};
      case Direction::from_device: copy.copier->from_device(copy.host, copy.mapped, copy.size_bytes); return Ticket{0};
      case Direction::on_device: break;
    }
    return base::fail(EOPNOTSUPP, "engine cpu cannot copy %zu bytes inside device memory; use copy_engine",
                      copy.size_bytes);
  }
  [[nodiscard]] base::Status complete(Ticket) noexcept override { return {}; }
};

}  // namespace

base::Result<std::unique_ptr<Engine>> open_cpu(const Place& place) noexcept;

base::Result<std::unique_ptr<Engine>> open_cpu(const Place&) noexcept {
  std::unique_ptr<Engine> engine(new (std::nothrow) CpuEngine);
  if (engine == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening the engine cpu");
  return engine;
}

}  // namespace gdrkit::engine
