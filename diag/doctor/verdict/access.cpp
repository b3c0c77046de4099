// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/verdict/access.hpp"

#include <algorithm>
#include <cstddef>

namespace gdrkit::diag::doctor {

const char* name_of(Judgment judgment) {
  constexpr const char* names[] = {"no", "unknown", "yes"};
  return names[static_cast<std::size_t>(judgment)];
}

Known all_of(std::initializer_list<Known> facts) {
  return *std::ranges::min_element(facts, [](const Known& a, const Known& b) { return a.judgment < b.judgment; });
}

Access judge(const AccessFacts& facts) {
  const Known dmabuf = all_of({facts.dmabuf_allowed, facts.dmabuf_system, facts.dmabuf_verbs, facts.dmabuf_gpu});
  const Known peer_memory = all_of({facts.belief, facts.peer_memory});
  Access access;
  access.believes = std::string("peer memory ") + name_of(facts.belief.judgment) + " (" + facts.belief.why +
                    "), dma-buf " + name_of(dmabuf.judgment) + " (" + dmabuf.why + ")";
  Known memory;
  memory.judgment = std::max(dmabuf.judgment, peer_memory.judgment);
  if (memory.judgment == Judgment::yes) {
    access.via = dmabuf.judgment == Judgment::yes ? "dma-buf" : "peer memory";
    memory.why = access.via + ": " + (dmabuf.judgment == Judgment::yes ? dmabuf.why : peer_memory.why);
  } else if (memory.judgment == Judgment::unknown) {
    memory.why = dmabuf.judgment == Judgment::unknown ? "dma-buf: " + dmabuf.why : "peer memory: " + peer_memory.why;
  } else {
    memory.why = "neither peer memory (" + peer_memory.why + ") nor dma-buf (" + dmabuf.why + ")";
  }
  const Known least = all_of({facts.gpu, facts.adapter, facts.path, memory});
  access.use = least.judgment;
  access.reason = least.judgment == Judgment::yes ? memory.why + "; " + facts.path.why : least.why;
  if (access.use != Judgment::yes) access.via.clear();
  return access;
}

}  // namespace gdrkit::diag::doctor
