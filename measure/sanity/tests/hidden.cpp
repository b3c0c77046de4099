// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tests of the runner: they prove that it tells passing, failing, crashing, hanging and waiving apart. Run by name
// only.
#include <unistd.h>
#include <csignal>

#include "measure/sanity/fixture.hpp"

namespace gdrkit::tools::sanity {

void hidden_passes(const Environment&) {}

void hidden_fails(const Environment& environment) {
  const auto device = open_device(environment);
  const AlignedAllocation memory = allocate(device.get(), environment, usual_bytes);
  Context context;
  const gdr_mh_t handle = pin(context, memory.address(), memory.rounded_bytes());
  std::uint8_t* bytes = map(context, handle, memory.rounded_bytes());
  const Bytes written = pattern(usual_bytes, 1);
  SANITY_RESULT(gdr_copy_to_mapping(handle, bytes, written.data(), written.size()), 0);
  // One byte of the memory goes wrong, as a broken mapping would make it.
  Bytes wrong = written;
  wrong[usual_bytes / 2] ^= 1;
  write_device(device.get(), memory.address(), wrong);
  SANITY_CHECK(read_device(device.get(), memory.address(), usual_bytes) == written,
               "the injected wrong byte was found");
}

void hidden_crashes(const Environment&) { std::raise(SIGSEGV); }

void hidden_hangs(const Environment&) {
  for (;;) ::pause();
}

void hidden_is_waived(const Environment&) { waive("it always is"); }

}  // namespace gdrkit::tools::sanity
