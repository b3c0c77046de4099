// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/kernel_log.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gdrkit::diag {
namespace {

using topology::Outcome;

/// Emulates /dev/kmsg: one record per read; "!NUMBER" fails with that errno, and the end is EAGAIN.
topology::Fact<KernelLog> play(const std::vector<std::string>& records) {
  std::size_t next = 0;
  return read_kmsg([&](char* buffer, std::size_t size) -> ssize_t {
    const std::string record = next < records.size() ? records[next++] : "!" + std::to_string(EAGAIN);
    if (record[0] == '!') {
      errno = std::stoi(record.substr(1));
      return -1;
    }
    const std::size_t length = std::min(size, record.size());
    std::memcpy(buffer, record.data(), length);
    return static_cast<ssize_t>(length);
  });
}

TEST(KernelLog, KeepsRelevantMessagesWithTheirTime) {
  const auto log =
      play({"6,0,5,-;Linux version 6.8\n", "3,1,1500000,-,caller=T1;NVRM: Xid (PCI:0000:3b:00): 79\n SUBSYSTEM=pci\n",
            "6,2,1600000,-;eth0: link up\n", "4,3,2000000,c;DMAR: \x1b[31mfault;x"});
  ASSERT_TRUE(log.is_found()) << log.reason;
  ASSERT_EQ(log.value.messages.size(), 2u);
  EXPECT_TRUE(log.value.is_whole);
  EXPECT_EQ(log.value.messages[0].text, "NVRM: Xid (PCI:0000:3b:00): 79");
  EXPECT_EQ(log.value.messages[0].microseconds, 1500000);
  EXPECT_EQ(log.value.messages[1].text, "DMAR: ?[31mfault;x");
}

TEST(KernelLog, ReportsLostMessages) {
  EXPECT_FALSE(play({"6,7,5,-;Linux\n"}).value.is_whole) << "the first record is not number 0";
  EXPECT_FALSE(play({"6,0,5,-;Linux\n", "!" + std::to_string(EPIPE), "6,9,5,-;x\n"}).value.is_whole)
      << "overwritten meanwhile";
  EXPECT_TRUE(play({"!" + std::to_string(EINTR), "6,0,5,-;Linux\n"}).value.is_whole);
  EXPECT_TRUE(play({}).is_found());
}

TEST(KernelLog, RejectsUnreadableAndInvalidInput) {
  EXPECT_EQ(play({"6,0,5,-;Linux\n", "!" + std::to_string(EIO)}).outcome, Outcome::unreadable);
  for (const char* record :
       {"x", ";", "6;x", "6,0;x", "a,0,5,-;x", "6,0,-5,-;x", "6,0,99999999999999999999,-;x", "6,-1,0,-;x"}) {
    EXPECT_EQ(play({record}).outcome, Outcome::malformed) << record;
  }
}

TEST(KernelLog, StopsIfTheLogGrowsFasterThanItReads) {
  const auto endless = read_kmsg([](char*, std::size_t) {
    errno = EPIPE;
    return ssize_t{-1};
  });
  EXPECT_EQ(endless.outcome, Outcome::malformed);
  const std::string record = "3,0,5,-;NVRM: " + std::string(1000, 'x');
  unsigned count = 0;
  const auto large = read_kmsg([&](char* buffer, std::size_t) {
    ++count;
    std::memcpy(buffer, record.data(), record.size());
    return static_cast<ssize_t>(record.size());
  });
  EXPECT_EQ(large.outcome, Outcome::malformed);
  EXPECT_LT(count, most_kernel_log_bytes / 1000 + 2);
}

TEST(KernelLog, ReadsADeviceRecordByRecord) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
  for (const std::string record : {"6,0,1,-;NVRM: one\n", "6,1,2,-;NVRM: two\n"}) {
    ASSERT_EQ(::write(ends[0], record.data(), record.size()), static_cast<ssize_t>(record.size()));
  }
  const auto log = read_kmsg([&](char* buffer, std::size_t size) { return ::read(ends[1], buffer, size); });
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_EQ(log.value.messages.size(), 2u);
  EXPECT_EQ(log.value.messages[1].text, "NVRM: two");
}

TEST(KernelLog, RecordingPreservesMessages) {
  KernelLog log;
  log.is_whole = false;
  log.messages = {{0, "NVRM: first"}, {1'234'567'000'001, "DMAR: a fault, with words 1.5 "}, {9, "nvidia "}};
  const auto back = parse_kernel_log(to_text(log));
  ASSERT_TRUE(back.is_found()) << back.reason;
  EXPECT_FALSE(back.value.is_whole);
  ASSERT_EQ(back.value.messages.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.value.messages[i].text, log.messages[i].text);
    EXPECT_EQ(back.value.messages[i].microseconds, log.messages[i].microseconds);
  }
  EXPECT_EQ(to_text(back.value), to_text(log));
}

TEST(KernelLog, RejectsDamagedRecordings) {
  for (const char* text : {"x", "1 a", "1.5 a", "1.5000000 a", "-1.000000 a", "1.-00001 a", "1.000000", ".000000 a",
                           "1.00000x a", "9223372036854775807.000000 a", "0.000000 a\n0x1.000000 b"}) {
    const auto log = parse_kernel_log(text);
    EXPECT_EQ(log.outcome, Outcome::malformed) << text;
    EXPECT_NE(log.reason.find("line"), std::string::npos);
  }
  EXPECT_TRUE(parse_kernel_log("").is_found());
  EXPECT_EQ(parse_kernel_log("0.000000 a\x01\n").value.messages[0].text, "a?");
}

}  // namespace
}  // namespace gdrkit::diag
