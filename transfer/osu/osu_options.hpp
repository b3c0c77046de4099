// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Options: those of OSU's micro-benchmarks, and our additions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/command_line.hpp"
#include "transfer/engines/message_engine.hpp"
#include "transfer/osu/osu_test.hpp"
#include "transfer/report/document_options.hpp"

namespace gdrkit::transfer::osu {

struct Options : report::DocumentOptions {
  std::vector<std::string> words;  ///< TEST [PLACE PLACE]
  std::string sizes;               ///< "[MIN:]MAX"
  int iterations = 0;              ///< 0: OSU's default for the test and size
  int warmup = -1;                 ///< -1: OSU's default
  int window = 64;
  bool validates = false;
  int check_warmup = 5;            ///< iterations before the check of a size
  std::size_t memory_limit = 0;    ///< of a rank's buffers, in bytes; 0: none
  std::string buffers = "single";  ///< of the messages of a window
  std::string accelerator;         ///< "": not given
  std::string type = "mpi_char";
  std::string percentiles;  ///< "50,99"
  std::string engine;       ///< "": the first that supports the test
  std::string mpi_plugin;
  std::string nccl;
  bool is_full = false;
  bool prints_plugin_source = false;
  int timeout_s = 300;
  bool shows_version = false;
  std::string doctor_root = "/";
  bool is_rank = false;  ///< started by this program
};

/// The words and options, validated.
struct Plan {
  const OsuTest* test = nullptr;
  const engines::MessageEngineKind* engine = nullptr;
  std::string places;  ///< "DH": of the first and second rank of a pair; for all ranks twice the same
  std::vector<std::size_t> sizes;
  std::vector<int> percentiles;
  int window = 64;

  /// OSU's defaults: fewer above 8 KiB.
  [[nodiscard]] int iterations(const Options& options, std::size_t size_bytes) const noexcept;
  [[nodiscard]] int warmup(const Options& options, std::size_t size_bytes) const noexcept;
};

[[nodiscard]] cli::CommandLine command_line(Options* options);
/// Throws Failure(usage).
[[nodiscard]] Plan plan_of(const Options& options);

}  // namespace gdrkit::transfer::osu
