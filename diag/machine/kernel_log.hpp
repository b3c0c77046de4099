// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// KernelLog: messages of Linux since boot, from /dev/kmsg, or a recording's /gdrkit/kernel_log.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag {

struct KernelMessage {
  std::int64_t microseconds = 0;  ///< since boot
  std::string text;               ///< one line, printable ASCII
};

struct KernelLog {
  std::vector<KernelMessage> messages;  ///< the relevant ones
  bool is_whole = true;                 ///< false: the oldest are lost, because Linux uses a ring buffer
};

inline constexpr const char* kernel_log_recording = "/gdrkit/kernel_log";
inline constexpr std::size_t most_kernel_records = 2'000'000;               ///< that are read
inline constexpr std::size_t most_kernel_messages = 100'000;                ///< that are kept
inline constexpr std::size_t most_kernel_log_bytes = std::size_t{1} << 22;  ///< of text that is kept

/// True for messages about GPUs, adapters, their modules, PCI Express or the IOMMU. The rest of the log is not kept: no
/// check needs it, and a recording should not disclose it.
[[nodiscard]] bool is_of_use(std::string_view message);
/// Parses a record as read from /dev/kmsg: "PRIORITY,NUMBER,MICROSECONDS,FLAGS;text". Returns false if it is malformed.
[[nodiscard]] bool parse_kmsg_record(std::string_view record, std::uint64_t* number, KernelMessage* message);
/// Reads all records through `read`, which behaves like read(2) of a non-blocking /dev/kmsg. It returns -1 with errno
/// EAGAIN at the end, and EPIPE if records were overwritten in the meantime.
[[nodiscard]] topology::Fact<KernelLog> read_kmsg(const std::function<ssize_t(char* buffer, std::size_t size)>& read);
/// Of this machine. Opens /dev/kmsg for reading, which requires root with dmesg_restrict.
[[nodiscard]] topology::Fact<KernelLog> read_live_kernel_log();

/// The recorded file: lines "SECONDS MESSAGE", preceded by "# the oldest are lost" if they are.
[[nodiscard]] std::string to_text(const KernelLog& log);
[[nodiscard]] topology::Fact<KernelLog> parse_kernel_log(std::string_view text);
/// Of a recording; unreadable if the recording does not contain such a file.
[[nodiscard]] topology::Fact<KernelLog> read_kernel_log(const topology::MachineView& view);

}  // namespace gdrkit::diag
