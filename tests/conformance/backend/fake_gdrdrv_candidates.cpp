// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The gdrdrv backend on a fake of the module, in each of the module's configurations.
#include "backend/gdrdrv/gdrdrv_backend.hpp"
#include "backend_conformance.hpp"
#include "fakes/emulated_cuda.hpp"
#include "fakes/fake_gdrdrv.hpp"

namespace gdrkit::backend {
namespace {

struct Shape {
  const char* name;
  fakes::GdrdrvModel model;
};

Candidate on_fake(const Shape& shape) {
  // One machine for each configuration, for the lifetime of the program: backends outlive the Candidate that opened
  // them.
  static std::map<std::string, std::unique_ptr<fakes::FakeGdrdrv>> machines;
  auto& machine = machines[shape.name];
  if (machine == nullptr) machine = std::make_unique<fakes::FakeGdrdrv>(shape.model);
  return {shape.name,
          "gdrdrv",
          "",
          [system = machine.get()] { return gdrdrv::open_gdrdrv_on(*system, &fakes::emulated_cuda()); },
          [] { return platform::open_emulated_device(0); },
          {}};
}

}  // namespace

std::vector<Candidate> candidates() {
  constexpr std::uint32_t api = 0x0002'0000;
  constexpr std::uint64_t beyond_32_bits = std::uint64_t{1} << 33;
  const Shape shapes[] = {
      {"Version2_0", {0x0002'0000, api, false, false, {1}, 0}},
      {"Version2_4", {0x0002'0004, api, false, false, {1}, 0}},
      {"Version2_5", {0x0002'0005, api, true, true, {1}, 0}},
      {"Version2_6", {0x0002'0006, api, true, true, {1}, 0}},
      {"NotPersistent", {0x0002'0006, api, false, true, {1}, 0}},
      {"CachedOrWriteCombining", {0x0002'0006, api, true, true, {1, 2}, 0}},
      {"Coherent", {0x0002'0006, api, true, true, {1, 2}, 0, true}},
      {"HighHandles", {0x0002'0006, api, true, true, {1}, beyond_32_bits}},
  };
  std::vector<Candidate> all;
  for (const Shape& shape : shapes) all.push_back(on_fake(shape));
  return all;
}

}  // namespace gdrkit::backend
