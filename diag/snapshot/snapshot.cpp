// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// snapshot: records what the checks read into one archive, for `--root` of doctor, topo and env elsewhere.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "cli/common/command_line.hpp"
#include "cli/common/whole_file.hpp"
#include "diag/snapshot/recorded_paths.hpp"
#include "diag/snapshot/recorder.hpp"
#include "diag/snapshot/redaction.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::tools {
namespace snapshot {
namespace {

/// Before anything is read, so that nobody waits for a refusal.
void check_target(const std::string& file, bool is_forced) {
  if (file == "-") {
    if (::isatty(STDOUT_FILENO) != 0)
      throw Failure(ExitCode::usage, "standard output is a terminal; name a file, or send the archive on: > FILE");
    return;
  }
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && !is_forced)
    throw Failure(ExitCode::usage, format("%s is there already; --force replaces it", file.c_str()));
  check_can_write(file);
}

void print_summary(const Recording& recording, const std::string& file, std::size_t bytes) {
  std::size_t files = 0;
  for (const auto& [path, item] : recording.items) files += item.has_content ? 1 : 0;
  std::FILE* out = file == "-" ? stderr : stdout;
  std::fprintf(out, "gdrkit snapshot %s: %zu files, %zu other paths, %zu of them not readable: %zu bytes\n",
               gdrkit_version(), files, recording.items.size() - files, recording.count_refused(), bytes);
  if (::geteuid() != 0) {
    std::fprintf(out, "note: without root, configuration space and the log of Linux are not in it\n");
  }
  std::fprintf(out, "read it with: gdrkit doctor --root %s\n", file == "-" ? "FILE" : file.c_str());
}

}  // namespace
}  // namespace snapshot

ExitCode run_snapshot(Front front, int argc, char** argv) {
  std::vector<std::string> words;
  std::string root = "/";
  bool is_forced = false;
  bool is_list = false;
  bool is_redacted = false;
  std::string level = "quick";
  CommandLine line;
  line.name = "snapshot";
  line.summary =
      "Records what the checks of this machine read into one archive; --root of doctor, topo and env reads it.";
  line.exit_codes = "0 written, 1 could not be written, 2 wrong usage, 4 --root is no recording";
  line.example =
      "gdrkit snapshot node7.tar\n  sudo gdrkit snapshot - | ssh desk 'cat > node7.tar'\n  gdrkit snapshot --redact "
      "to-show.tar\n  gdrkit snapshot --list";
  line.options = {
      {'\0', "force", "", &is_forced, "replace FILE when it is there", false},
      {'\0', "list", "", &is_list, "print what a recording holds, and record nothing", false},
      {'\0', "redact", "", &is_redacted, "names, addresses and serial numbers as hashes (diag/snapshot/README.md)",
       false},
      {'\0', "level", "LEVEL", Choice{level_names(), &level, ""},
       "quick reads files; probe also asks NVML and libibverbs, and reads the log of Linux; cuda also asks CUDA",
       false},
      {'\0', "root", "FOLDER|ARCHIVE", &root, "record a recording again instead of this machine", false},
  };
  line.operands = {&words, "FILE", "where the tar archive goes; - for standard output"};
  if (const auto ended = parse(line, front, argc, argv)) return *ended;
  if (is_list) {
    snapshot::print_recorded_paths();
    return ExitCode::ok;
  }
  if (words.size() != 1) throw Failure(ExitCode::usage, "name one FILE for the recording, or - for standard output");
  snapshot::check_target(words[0], is_forced);
  const MachineView view = open_view(root);
  snapshot::Recording recording = snapshot::record(view);
  if (view.is_live() && level != "quick") snapshot::add_probe(gather_probe(view, level_named(level)), &recording);
  if (is_redacted) snapshot::redact(view, snapshot::SaltedHash::random_salt(), &recording);
  const std::string archive = recording.to_archive();
  if (words[0] == "-") {
    std::fwrite(archive.data(), 1, archive.size(), stdout);
  } else {
    write_whole_file(words[0], archive);
  }
  snapshot::print_summary(recording, words[0], archive.size());
  return ExitCode::ok;
}

}  // namespace gdrkit::tools
