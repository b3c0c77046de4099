// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The sanity tests of a gdrkit that is built for the tests of "gdrkit sanity": they pass, fail, crash, hang or are
// waived.
#include <unistd.h>
#include <csignal>

#include "measure/sanity/fixture.hpp"
#include "measure/sanity/sanity_test.hpp"

namespace gdrkit::measure::sanity {
namespace {

void passes(const Environment&) {}

void fails(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, usual_bytes);
  Context context;
  const gdr_mh_t handle = pin(context, memory.address(), memory.rounded_bytes());
  std::uint8_t* bytes = map(context, handle, memory.rounded_bytes());
  const Bytes written = pattern(usual_bytes, 1);
  SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, written.data(), written.size()), 0);
  // Changes one byte of the memory, like a broken mapping.
  Bytes wrong = written;
  wrong[usual_bytes / 2] ^= 1;
  write_device(device.get(), memory.address(), wrong);
  SANITY_CHECK(read_device(device.get(), memory.address(), usual_bytes) == written,
               "the injected wrong byte was found");
}

void crashes(const Environment&) { std::raise(SIGSEGV); }

void hangs(const Environment&) {
  for (;;) ::pause();
}

void is_waived(const Environment&) { waive("it always is"); }

}  // namespace

std::vector<SanityTest> all_tests() {
  constexpr auto kind = platform::AllocationKind::cuda_malloc;
  return {{"passes", List::own, &passes, kind, ""},
          {"fails", List::own, &fails, kind, ""},
          {"crashes", List::own, &crashes, kind, ""},
          {"hangs", List::own, &hangs, kind, ""},
          {"is_waived", List::own, &is_waived, kind, ""}};
}

}  // namespace gdrkit::measure::sanity
