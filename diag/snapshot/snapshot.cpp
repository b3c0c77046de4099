// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// snapshot: writes the files that the checks read to an archive, for `--root` of doctor, topo and env elsewhere.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/interface/command_line.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/json_document.hpp"
#include "cli/interface/whole_file.hpp"
#include "diag/snapshot/recorded_paths.hpp"
#include "diag/snapshot/recording.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::snapshot {
namespace {

/// What a recording contains and lacks.
struct Summary {
  std::string root;
  std::string level;
  bool is_redacted;
  std::string file;   ///< of the archive; "-": standard output
  std::size_t bytes;  ///< of the archive
  std::size_t files;  ///< with recorded content
  std::vector<std::string> missed;

  /// A recording with missing files is written nevertheless: it contains everything that could be read.
  [[nodiscard]] cli::ExitCode exit_code() const {
    return missed.empty() ? cli::ExitCode::ok : cli::ExitCode::unreadable;
  }
};

/// Runs before anything is read, so that an error is reported at once.
void check_target(const std::string& file, bool is_forced, const cli::DocumentOption& json) {
  if (json.is_in_file() && cli::are_one_file(json.path, file))
    cli::reject("cannot write --json and the archive to the same file " + file);
  if (file == "-") {
    if (json.is_on_stdout())
      cli::reject("cannot write both the archive and --json to standard output; use --json=FILE");
    if (::isatty(STDOUT_FILENO) != 0)
      cli::reject("cannot write an archive to a terminal; give a file name, or redirect the output (> FILE)");
    return;
  }
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && !is_forced)
    cli::reject(cli::format("cannot write %s: the file exists; use --force to replace it", file.c_str()));
  cli::check_can_write(file);
}

void report_missed(const Summary& summary) {
  constexpr std::size_t most_named = 3;
  const auto& missed = summary.missed;
  if (missed.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(most_named, missed.size()); ++i) names += (i == 0 ? "" : ", ") + missed[i];
  std::fprintf(stderr,
               "gdrkit snapshot: %zu of %zu files could not be read: %s%s\n"
               "gdrkit doctor will report these files as unknown%s\n",
               missed.size(), summary.files + missed.size(), cli::printable(names).c_str(),
               missed.size() > most_named ? ", ..." : "", ::geteuid() == 0 ? "" : "; record again as root");
}

void print_summary(const Summary& summary) {
  std::FILE* out = summary.file == "-" ? stderr : stdout;
  std::fprintf(out, "gdrkit snapshot %s: read %zu of %zu files; the archive has %zu bytes\n", gdrkit_version(),
               summary.files, summary.files + summary.missed.size(), summary.bytes);
  if (::geteuid() != 0) {
    std::fprintf(out,
                 "note: without root the archive lacks PCI configuration space beyond 64 bytes and the Linux log\n");
  }
  std::fprintf(out, "read it with: gdrkit doctor --root %s\n",
               summary.file == "-" ? "FILE" : cli::printable(summary.file).c_str());
}

/// Schema gdrkit.snapshot/1: diag/snapshot/README.md.
void write_summary_json(const cli::DocumentOption& option, const Summary& summary) {
  cli::write_json(option, {{"schema", "gdrkit.snapshot/1"},
                           {"version", gdrkit_version()},
                           {"root", summary.root},
                           {"level", summary.level},
                           {"is_redacted", summary.is_redacted},
                           {"archive", summary.file},
                           {"bytes", summary.bytes},
                           {"files", summary.files},
                           {"missed", summary.missed},
                           {"exit_code", static_cast<int>(summary.exit_code())}});
}

/// Schema gdrkit.snapshot-list/1.
void write_list_json(const cli::DocumentOption& option) {
  const auto path_json = [](const RecordedPath& path) -> cli::Json {
    return {{"kind", name_of(path.kind)}, {"pattern", path.pattern}, {"purpose", path.purpose}};
  };
  cli::write_json(option, {{"schema", "gdrkit.snapshot-list/1"},
                           {"version", gdrkit_version()},
                           {"paths", cli::json_list(recorded_paths(), path_json)},
                           {"variables", recorded_variables()}});
}

}  // namespace

cli::ExitCode run_snapshot(cli::Front front, int argc, char** argv) {
  std::vector<std::string> words;
  std::string root = "/";
  bool is_forced = false;
  bool is_list = false;
  bool is_redacted = false;
  std::string level = "quick";
  cli::DocumentOption json;
  cli::CommandLine line;
  line.name = "snapshot";
  line.uses_device = false;
  line.summary =
      "Records the files that the checks read into one tar archive, for example for a bug report. Read it with --root "
      "of doctor, topo and env.";
  line.exit_codes =
      "0 written, 1 not written, 2 wrong usage, 3 written but files could not be read, 4 --root is not a recording";
  line.example =
      "gdrkit snapshot node7.tar\n  sudo gdrkit snapshot - | ssh desk 'cat > node7.tar'\n  gdrkit snapshot --redact "
      "to-show.tar\n  gdrkit snapshot --list";
  line.options = {
      {'\0', "force", "", &is_forced, "replace FILE if it exists", false},
      {'\0', "list", "", &is_list, "print the paths that a recording contains; record nothing", false},
      {'\0', "redact", "", &is_redacted, "replace names, addresses and serial numbers with hashes", false},
      {'\0', "level", "LEVEL", cli::Choice{level_names(), &level, ""},
       "quick (files), probe (+ NVML, libibverbs, Linux log) or cuda (+ CUDA)", false},
      {'\0', "root", "DIR|ARCHIVE|-", &root, "read this recording (- for stdin) instead of this machine", false},
      cli::json_option(&json, "diag/snapshot/README.md"),
  };
  line.operands = {&words, "FILE", "the tar archive to write; - for standard output"};
  if (const auto ended = cli::parse(line, front, argc, argv)) return *ended;
  if (is_list) {
    if (json.is_given) write_list_json(json);
    if (!json.is_on_stdout()) print_recorded_paths();
    return cli::ExitCode::ok;
  }
  if (words.size() != 1) cli::reject("invalid arguments: give one FILE for the archive, or - for standard output");
  check_target(words[0], is_forced, json);
  const MachineView view = open_view(root);
  Recording recording = record(view);
  if (view.is_live() && level != "quick") add_probe(gather_probe(view, level_named(level)), &recording);
  if (is_redacted) redact(view, SaltedHash::random_salt(), &recording);
  const std::string archive = recording.to_archive();
  if (words[0] == "-") {
    std::fwrite(archive.data(), 1, archive.size(), stdout);
  } else {
    cli::write_whole_file(words[0], archive);
  }
  const auto files = std::ranges::count_if(recording.items, [](const auto& item) { return item.second.has_content; });
  const Summary summary{
      root, level, is_redacted, words[0], archive.size(), static_cast<std::size_t>(files), recording.missed()};
  if (json.is_given) write_summary_json(json, summary);
  if (!json.is_on_stdout()) print_summary(summary);
  report_missed(summary);
  return summary.exit_code();
}

}  // namespace gdrkit::diag::snapshot
