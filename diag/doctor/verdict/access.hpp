// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Access: whether a library lets an adapter access a GPU's memory: the rule, without reading anything.
#pragma once

#include <string>

namespace gdrkit::diag::doctor {

/// In this order, so that the least of several answers is the answer to all of them together.
enum class Answer { no, unknown, yes };
[[nodiscard]] const char* name_of(Answer answer);

struct Known {
  Answer answer = Answer::unknown;
  std::string why;  ///< the evidence; of unknown: which fact is missing
};

/// Of one library, one GPU and one adapter.
struct AccessFacts {
  Known gpu;            ///< the GPU is in use by NVIDIA's driver
  Known adapter;        ///< the library takes the adapter
  Known path;           ///< the library allows direct access over this distance
  Known belief;         ///< it takes a peer-memory module for loaded
  Known peer_memory;    ///< and that module can work
  Known dmabuf_system;  ///< driver, Linux
  Known dmabuf_gpu;
  Known dmabuf_verbs;
  Known dmabuf_allowed;  ///< no setting turns it off
};

struct Access {
  Answer use = Answer::unknown;
  std::string via;       ///< "dma-buf" or "peer memory"; "" unless used
  std::string believes;  ///< what the library will find when it looks
  std::string reason;
};

/// The first of several with the least answer.
[[nodiscard]] Known all_of(std::initializer_list<Known> facts);
[[nodiscard]] Access judge(const AccessFacts& facts);

}  // namespace gdrkit::diag::doctor
