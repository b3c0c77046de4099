// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A tree of files, directories and links from the input, and paths through it: nothing outside the root is ever read.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "diag/topology/machine_view.hpp"
#include "fuzz_target.hpp"

namespace files = std::filesystem;
using gdrkit::diag::topology::MachineView;
using gdrkit::diag::topology::Outcome;

namespace {

constexpr char canary[] = "canary of the world outside";

/// One for the whole run: outside/canary, and root/, which each input recreates.
const files::path& work_directory() {
  static const struct Directory {
    files::path path;
    Directory() {
      std::string pattern = (files::temp_directory_path() / "gdrkit-view-fuzz-XXXXXX").string();
      FUZZ_CHECK(::mkdtemp(pattern.data()) != nullptr);
      path = pattern;
      std::ofstream(path / "a") << canary;
      files::create_directory(path / "b");
      std::ofstream(path / "b" / "a") << canary;
    }
    ~Directory() { files::remove_all(path); }
  } directory;
  return directory.path;
}

/// Uses few names, so that paths collide.
std::string path_of(const std::uint8_t* data, std::size_t count) {
  static const char* const parts[] = {"a", "b", "c", "..", ".", "", "/", "b/a"};
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : "/") + std::string(parts[data[i] % 8]);
  return path;
}

void build(const files::path& root, const std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 0; at + 8 <= size && at < 256; at += 8) {
    const files::path path = (root / path_of(data + at + 1, 2).substr(0, 8)).lexically_normal();
    // Content stays inside the root and is not written through links; targets of links are arbitrary.
    if (path.lexically_relative(root).string().rfind("..", 0) == 0) continue;
    std::error_code error;
    if (files::weakly_canonical(path.parent_path(), error).string().rfind(root.string(), 0) != 0) continue;
    switch (data[at] % 4) {
      case 0: files::create_directory(path, error); break;
      case 1:
        if (!files::exists(files::symlink_status(path, error))) std::ofstream(path) << "inside " << int{data[at + 4]};
        break;
      case 2: files::create_symlink("/" + path_of(data + at + 3, 4), path, error); break;
      default: files::create_symlink("../" + path_of(data + at + 3, 4), path, error); break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const files::path root = work_directory() / "root";
  files::remove_all(root);
  files::create_directory(root);
  build(root, data, size);
  const auto view = MachineView::open(root.string());
  FUZZ_CHECK(view.has_value());
  for (std::size_t at = 0; at + 6 <= size && at < 256; at += 3) {
    const std::string path = path_of(data + at, 6);
    const auto text = view->text(path);
    FUZZ_CHECK(text.value.find(canary) == std::string::npos);
    FUZZ_CHECK(text.is_found() == text.reason.empty());
    const auto place = view->resolved(path);
    const auto names = view->names(path);
    if (!place.is_found()) {
      FUZZ_CHECK(!text.is_found() && !names.is_found());
      continue;
    }
    FUZZ_CHECK(place.value.front() == '/' && place.value.find("/../") == std::string::npos);
    const files::path real = root / place.value.substr(1);
    FUZZ_CHECK(files::exists(files::symlink_status(real)) && !files::is_symlink(real));
    FUZZ_CHECK(names.is_found() == files::is_directory(real));
    FUZZ_CHECK(text.is_found() == files::is_regular_file(real));
    FUZZ_CHECK(view->resolved(place.value).value == place.value);
  }
  return 0;
}

std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  // A directory b, a file in it, a link "/b/a", a link to a parent of the root, two links in a cycle.
  return {{0, 1, 5, 0, 0, 0, 0, 0, 1, 1, 0, 0, 7, 0, 0, 0, 2, 2, 5, 1, 0, 4, 4, 0, 3, 0, 4, 3, 3, 3, 0, 0},
          {2, 0, 4, 1, 4, 4, 4, 0, 2, 1, 4, 0, 4, 4, 4, 0, 0, 2, 4, 0, 0, 0, 0, 0, 3, 2, 0, 3, 3, 3, 0, 0},
          {3, 0, 4, 3, 1, 0, 4, 0, 3, 1, 4, 3, 3, 1, 0, 0, 1, 2, 4, 0, 9, 0, 0, 0, 2, 2, 2, 2, 2, 2, 0, 0}};
}
