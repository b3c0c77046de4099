// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// All of backends.def, as libraries open them.
#include "backend_conformance.hpp"

namespace gdrkit::backend {
namespace {

std::string resource_of(const std::string& backend_name) {
  if (backend_name == "emulated") return "emulated";
  if (backend_name == "gdrdrv") return "kernel";
  return backend_name == "dmabuf" ? "dmabuf" : "gpu";  // not every driver supports mapping dma-bufs
}

/// NVIDIA's interface for kernel modules does not pin memory of CUDA's pools.
std::vector<platform::AllocationKind> unserved_by(const std::string& backend_name) {
  if (backend_name != "gdrdrv") return {};
  return {platform::AllocationKind::pool};
}

}  // namespace

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const Registration& registration : registrations()) {
    const std::string name = registration.name;
    all.push_back(
        {name, name, resource_of(name), [&registration] { return registration.open(base::read_settings()); },
         [name] { return name == "emulated" ? platform::open_emulated_device(0) : platform::open_cuda_device(0); },
         unserved_by(name)});
  }
  return all;
}

}  // namespace gdrkit::backend
