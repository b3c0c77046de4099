// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Linux messages, as in a recording or /dev/kmsg. Messages that are written and read again are equal.
#include "diag/machine/kernel_log.hpp"
#include "fuzz_target.hpp"

using namespace gdrkit::diag;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto log = parse_kernel_log(text);
  FUZZ_CHECK(log.is_found() == log.reason.empty());
  FUZZ_CHECK(log.value.messages.size() <= size);
  if (log.is_found()) {
    const auto back = parse_kernel_log(to_text(log.value));
    FUZZ_CHECK(back.is_found() && back.value.is_whole == log.value.is_whole);
    FUZZ_CHECK(to_text(back.value) == to_text(log.value));
  }
  std::uint64_t number = 0;
  KernelMessage message;
  if (parse_kmsg_record(text, &number, &message)) {
    FUZZ_CHECK(message.microseconds >= 0 && message.text.size() <= size);
    for (const char character : message.text) FUZZ_CHECK(character >= 0x20 && character <= 0x7e);
  }
  return 0;
}

std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  return to_seeds({"# the oldest are lost\n0.000001 NVRM: Xid (PCI:0000:3b:00): 79\n12.500000 DMAR: fault\n",
                   "3,17,1500000,-,caller=T1;NVRM: Xid (PCI:0000:3b:00): 79\n SUBSYSTEM=pci\n"});
}
