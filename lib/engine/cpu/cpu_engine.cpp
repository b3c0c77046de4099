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
    static constexpr Traits own = {SIZE_MAX, SIZE_MAX, UINT32_MAX};
    return own;
  }
  [[nodiscard]] base::Result<Ticket> submit(const Copy& copy) noexcept override {
    copy_by_cpu(*copy.copier, copy.direction, copy.mapped, copy.host, copy.size_bytes);
    return Ticket{0};
  }
  [[nodiscard]] base::Status complete(Ticket) noexcept override { return {}; }
};

}  // namespace

base::Result<std::unique_ptr<Engine>> open_cpu(const Place&) noexcept {
  std::unique_ptr<Engine> engine(new (std::nothrow) CpuEngine);
  if (engine == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engine 'cpu'");
  return engine;
}

}  // namespace gdrkit::engine
