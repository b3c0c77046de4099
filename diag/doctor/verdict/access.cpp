// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/verdict/access.hpp"

#include <algorithm>
#include <cstddef>

namespace gdrkit::diag::doctor {

const char* name_of(Answer answer) {
  constexpr const char* names[] = {"no", "unknown", "yes"};
  return names[static_cast<std::size_t>(answer)];
}

Known all_of(std::initializer_list<Known> facts) {
  return *std::min_element(facts.begin(), facts.end(),
                           [](const Known& a, const Known& b) { return a.answer < b.answer; });
}

Access judge(const AccessFacts& facts) {
  const Known dmabuf = all_of({facts.dmabuf_allowed, facts.dmabuf_system, facts.dmabuf_verbs, facts.dmabuf_gpu});
  const Known peer_memory = all_of({facts.belief, facts.peer_memory});
  Access access;
  access.believes = std::string("peer memory ") + name_of(facts.belief.answer) + " (" + facts.belief.why +
                    "), dma-buf " + name_of(dmabuf.answer) + " (" + dmabuf.why + ")";
  Known memory;
  memory.answer = std::max(dmabuf.answer, peer_memory.answer);
  if (memory.answer == Answer::yes) {
    access.via = dmabuf.answer == Answer::yes ? "dma-buf" : "peer memory";
    memory.why = access.via + ": " + (dmabuf.answer == Answer::yes ? dmabuf.why : peer_memory.why);
  } else if (memory.answer == Answer::unknown) {
    memory.why = dmabuf.answer == Answer::unknown ? "dma-buf: " + dmabuf.why : "peer memory: " + peer_memory.why;
  } else {
    memory.why = "neither peer memory (" + peer_memory.why + ") nor dma-buf (" + dmabuf.why + ")";
  }
  const Known least = all_of({facts.gpu, facts.adapter, facts.path, memory});
  access.use = least.answer;
  access.reason = least.answer == Answer::yes ? memory.why + "; " + facts.path.why : least.why;
  if (access.use != Answer::yes) access.via.clear();
  return access;
}

}  // namespace gdrkit::diag::doctor
