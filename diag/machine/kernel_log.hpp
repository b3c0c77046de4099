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
  std::vector<KernelMessage> messages;  ///< those that are of use
  bool is_whole = true;                 ///< false: the oldest are lost, since Linux keeps a ring
};

inline constexpr const char* kernel_log_recording = "/gdrkit/kernel_log";
inline constexpr std::size_t most_kernel_records = 2'000'000;               ///< that are looked at
inline constexpr std::size_t most_kernel_messages = 100'000;                ///< that are kept
inline constexpr std::size_t most_kernel_log_bytes = std::size_t{1} << 22;  ///< of text that is kept

/// About GPUs, adapters, their modules, PCI Express or the IOMMU. The rest of the log is not kept: nobody asks for it,
/// and a recording should not spread it.
[[nodiscard]] bool is_of_use(std::string_view message);
/// A record as a read of /dev/kmsg gives it: "PRIORITY,NUMBER,MICROSECONDS,FLAGS;text". False for what is none.
[[nodiscard]] bool parse_kmsg_record(std::string_view record, std::uint64_t* number, KernelMessage* message);
/// All records that `read` gives; it answers as read(2) of a non-blocking /dev/kmsg, -1 with errno at the end (EAGAIN)
/// and where records were overwritten meanwhile (EPIPE).
[[nodiscard]] topology::Fact<KernelLog> read_kmsg(const std::function<ssize_t(char* buffer, std::size_t size)>& read);
/// Of this machine. Opens /dev/kmsg for reading; with dmesg_restrict that needs root.
[[nodiscard]] topology::Fact<KernelLog> read_live_kernel_log();

/// The recorded file: lines "SECONDS MESSAGE", and "# the oldest are lost" first when they are.
[[nodiscard]] std::string to_text(const KernelLog& log);
[[nodiscard]] topology::Fact<KernelLog> parse_kernel_log(std::string_view text);
/// Of a recording; unreadable when it holds no such file.
[[nodiscard]] topology::Fact<KernelLog> read_kernel_log(const topology::MachineView& view);

}  // namespace gdrkit::diag
