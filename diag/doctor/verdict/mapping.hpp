// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Mapping: whether gdrkit can map a GPU's memory into the CPU's address space, and by which backend.
#pragma once

#include <string>
#include <vector>

#include "diag/doctor/verdict/access.hpp"
#include "diag/doctor/verdict/causes.hpp"

namespace gdrkit::diag::doctor {

/// Of gdrdrv, dmabuf and rm, where only a trial by a program proves dmabuf. Only from files.
struct MappingFacts {
  Known gpu;                        ///< in use by NVIDIA's driver, with its nodes
  Known gdrdrv;                     ///< node and version
  Known rm;                         ///< driver and processor
  Known dmabuf = {Answer::no, ""};  ///< the driver's version, which never proves it
};
[[nodiscard]] Access judge_mapping(const MappingFacts& facts);

/// NVML says that confidential computing is on; false where it was not asked.
[[nodiscard]] bool is_confidential(const Machine& machine);
constexpr const char* confidential =
    "confidential computing is on (gpu.cc): adapters and processor may be kept from the GPU's memory";

/// Whether NVIDIA's driver uses the GPU, and not a guest.
[[nodiscard]] Known in_use(const Machine& machine, const std::string& address);

/// `blocked_by`: the checks that fail and are the cause.
[[nodiscard]] Access mapping_of(const Machine& machine, const Causes& causes, const std::string& address,
                                std::vector<std::string>* blocked_by);

}  // namespace gdrkit::diag::doctor
