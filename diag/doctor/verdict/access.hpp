// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Access: whether a library lets an adapter access a GPU's memory, and whether gdrkit can map it into the CPU's address
// space, and by which backend.
#pragma once

#include <string>
#include <vector>

#include "diag/doctor/verdict/causes.hpp"

namespace gdrkit::diag::doctor {

/// Ordered so that the minimum of several values is their conjunction.
enum class Judgment { no, unknown, yes };
[[nodiscard]] const char* name_of(Judgment judgment);

struct Known {
  Judgment judgment = Judgment::unknown;
  std::string why;  ///< the evidence; for unknown: the missing fact
};

/// For one library, one GPU and one adapter.
struct AccessFacts {
  Known gpu;            ///< the GPU is in use by NVIDIA's driver
  Known adapter;        ///< the library uses the adapter
  Known path;           ///< the library allows direct access over this distance
  Known detection;      ///< the library detects a peer-memory module
  Known peer_memory;    ///< and that module can work
  Known dmabuf_system;  ///< driver, Linux
  Known dmabuf_gpu;
  Known dmabuf_verbs;
  Known dmabuf_allowed;  ///< no setting turns it off
};

struct Access {
  Judgment use = Judgment::unknown;
  std::string via;        ///< "dma-buf" or "peer memory"; "" unless used
  std::string detection;  ///< what the library will detect
  std::string reason;
};

/// The first of several with the minimal value.
[[nodiscard]] Known all_of(std::initializer_list<Known> facts);
/// Uses only what has already been read.
[[nodiscard]] Access judge(const AccessFacts& facts);

/// Facts about gdrdrv, dmabuf and rm, from files only. Only a test by a program can prove dmabuf.
struct MappingFacts {
  Known gpu;                          ///< in use by NVIDIA's driver, with its nodes
  Known gdrdrv;                       ///< node and version
  Known rm;                           ///< driver and processor
  Known dmabuf = {Judgment::no, ""};  ///< the driver's version, which never proves it
};
[[nodiscard]] Access judge_mapping(const MappingFacts& facts);

/// Appends the IDs of the causes.
void add_ids(const std::vector<Cause>& causes, std::vector<std::string>* ids);
/// Makes access impossible if there are such causes. The first one becomes the reason. Appends their IDs to
/// `blocked_by`.
void rule_out(const std::vector<Cause>& causes, Access* access, std::vector<std::string>* blocked_by);

/// MIG mode from NVML; false if NVML was not queried.
[[nodiscard]] bool is_divided(const Machine& machine, const std::string& address);
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
