// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Mapping: whether gdrkit can map a GPU's memory into the CPU's address space, and by which backend.
#pragma once

#include <string>
#include <vector>

#include "diag/doctor/verdict/access.hpp"
#include "diag/doctor/verdict/causes.hpp"

namespace gdrkit::diag::doctor {

/// Facts about gdrdrv, dmabuf and rm, from files only. Only a test by a program can prove dmabuf.
struct MappingFacts {
  Known gpu;                          ///< in use by NVIDIA's driver, with its nodes
  Known gdrdrv;                       ///< node and version
  Known rm;                           ///< driver and processor
  Known dmabuf = {Judgment::no, ""};  ///< the driver's version, which never proves it
};
[[nodiscard]] Access judge_mapping(const MappingFacts& facts);

/// NVML reports confidential computing as on; false if NVML was not queried.
[[nodiscard]] bool is_confidential(const Machine& machine);
constexpr const char* confidential =
    "confidential computing is on (gpu.cc): adapters and processor may be unable to access the GPU's memory";

/// Whether NVIDIA's driver uses the GPU on this host (it is not passed through to a guest).
[[nodiscard]] Known in_use(const Machine& machine, const std::string& address);

/// `blocked_by`: IDs of the failed checks that are the cause.
[[nodiscard]] Access mapping_of(const Machine& machine, const Causes& causes, const std::string& address,
                                std::vector<std::string>* blocked_by);

}  // namespace gdrkit::diag::doctor
