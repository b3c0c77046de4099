// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Access: decides whether a library lets an adapter access a GPU's memory. Reads nothing.
#pragma once

#include <string>

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
  Known belief;         ///< the library detects a peer-memory module
  Known peer_memory;    ///< and that module can work
  Known dmabuf_system;  ///< driver, Linux
  Known dmabuf_gpu;
  Known dmabuf_verbs;
  Known dmabuf_allowed;  ///< no setting turns it off
};

struct Access {
  Judgment use = Judgment::unknown;
  std::string via;       ///< "dma-buf" or "peer memory"; "" unless used
  std::string believes;  ///< what the library will detect
  std::string reason;
};

/// The first of several with the minimal value.
[[nodiscard]] Known all_of(std::initializer_list<Known> facts);
[[nodiscard]] Access judge(const AccessFacts& facts);

}  // namespace gdrkit::diag::doctor
