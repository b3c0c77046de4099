// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The libraries as files: names, exported symbols, what they need, how large they are, and that programs find them.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <regex>
#include <string>
#include <vector>

#include "abi/elf_file.hpp"

namespace gdrkit::tests {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path directory = GDRKIT_LIBRARY_DIRECTORY;

const Names gdrapi_symbols = {"gdr_open",
                              "gdr_close",
                              "gdr_pin_buffer",
                              "gdr_pin_buffer_v2",
                              "gdr_unpin_buffer",
                              "gdr_get_info",
                              "gdr_get_info_v2",
                              "gdr_get_callback_flag",
                              "gdr_map",
                              "gdr_map_v2",
                              "gdr_unmap",
                              "gdr_get_attribute",
                              "gdr_copy_to_mapping",
                              "gdr_copy_from_mapping",
                              "gdr_runtime_get_version",
                              "gdr_driver_get_version",
                              "gdr_get_mapping_type_string"};

/// The functions that the headers in include/gdrkit and the private ones in `detail` declare at the start of a line.
/// Only names that begin with gdrkit_shmem belong to libgdrkit_shmem.
Names declared_functions(bool are_of_shmem) {
  const std::regex declaration(R"(^(?:int|const char\*) (gdrkit_\w+)\()");
  Names names;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(GDRKIT_INCLUDE_DIRECTORY) / "gdrkit")) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if (!std::regex_search(line, found, declaration)) continue;
      if (found[1].str().starts_with("gdrkit_shmem") == are_of_shmem) names.insert(found[1]);
    }
  }
  return names;
}

struct Expectation {
  const char* file;
  const char* soname;
  Names symbols;
  Names versions;
  Names needs = {};
  std::size_t limit_bytes = std::size_t{1} << 20;
};

class Library : public testing::TestWithParam<Expectation> {
 protected:
  void SetUp() override { ASSERT_TRUE(elf.is_valid()) << directory / GetParam().file; }
  ElfFile elf{directory / GetParam().file};
};

TEST_P(Library, ExportsOnlyItsFunctions) {
  EXPECT_EQ(elf.exported(), GetParam().symbols);
  EXPECT_EQ(elf.versions(), GetParam().versions);
}

// A library that is loaded earlier and exports the same names would otherwise replace our functions.
TEST_P(Library, CallsNoneOfItsOwnFunctionsByName) {
  EXPECT_TRUE(elf.bound_by_name().contains("malloc")) << "the relocations were not read";
  for (const std::string& name : GetParam().symbols) EXPECT_FALSE(elf.bound_by_name().contains(name)) << name;
}

TEST_P(Library, HasItsSoname) { EXPECT_EQ(elf.soname(), GetParam().soname); }

TEST_P(Library, DependsOnExpectedLibrariesOnly) {
  if (GDRKIT_IS_SANITIZED) GTEST_SKIP() << "a sanitizer brings a library of its own";
  Names needed = elf.needed();
  EXPECT_EQ(needed.erase("libc.so.6"), 1u);
  // The C library's other half, which it needs itself: it provides the addresses of thread-local storage.
  for (const char* loader : {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld64.so.2"}) needed.erase(loader);
  EXPECT_EQ(needed, GetParam().needs);
}

TEST_P(Library, HasTheExpectedLinkerFlags) {
  EXPECT_NE(elf.flags_1() & DF_1_NODELETE, 0u);
  EXPECT_NE(elf.flags_1() & DF_1_NOW, 0u);
  EXPECT_FALSE(elf.has_executable_stack());
  EXPECT_FALSE(elf.has_text_relocations());
}

// dlopen(3) has little memory for static TLS, and other libraries of the process may have used all of it.
TEST_P(Library, CanBeLoadedByARunningProgram) { EXPECT_EQ(elf.flags() & DF_STATIC_TLS, 0u); }

TEST_P(Library, IsSmallWhenStripped) {
  if (GDRKIT_IS_SANITIZED) GTEST_SKIP() << "sanitizers multiply the code";
  const fs::path stripped = fs::path(testing::TempDir()) / (std::string(GetParam().soname) + ".stripped");
  const std::string command =
      std::string(GDRKIT_STRIP) + " -o " + stripped.string() + " " + (directory / GetParam().file).string();
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_LT(fs::file_size(stripped), GetParam().limit_bytes);
  EXPECT_GT(fs::file_size(stripped), 1u << 14);
  EXPECT_EQ(ElfFile(stripped).exported(), GetParam().symbols);
  fs::remove(stripped);
}

INSTANTIATE_TEST_SUITE_P(
    All, Library,
    testing::Values(Expectation{"libgdrapi.so", "libgdrapi.so.2", gdrapi_symbols, {}},
                    Expectation{
                        "libgdrkit.so", "libgdrkit.so.0", declared_functions(false), {"GDRKIT_0", "GDRKIT_PRIVATE"}},
                    // It holds GPU code for every architecture where nvcc is there.
                    Expectation{"libgdrkit_shmem.so",
                                "libgdrkit_shmem.so.0",
                                declared_functions(true),
                                {"GDRKIT_SHMEM_0", "GDRKIT_SHMEM_PRIVATE"},
                                {"libgdrkit.so.0"},
                                std::size_t{12} << 20}),
    [](const auto& test) {
      const std::string file = test.param.file;
      return file.substr(3, file.find('.') - 3);
    });

TEST(DropInLibrary, HasTheThreeFileNamesOfGdrcopy) {
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(directory / "libgdrapi.so.2.6")));
  EXPECT_EQ(fs::read_symlink(directory / "libgdrapi.so.2"), "libgdrapi.so.2.6");
  EXPECT_EQ(fs::read_symlink(directory / "libgdrapi.so"), "libgdrapi.so.2");
}

TEST(DropInLibrary, IsFoundByBothNamesThatClientsLoad) {
  void* const by_plain_name = ::dlopen((directory / "libgdrapi.so").c_str(), RTLD_NOW);
  ASSERT_NE(by_plain_name, nullptr) << ::dlerror();
  void* const by_soname = ::dlopen((directory / "libgdrapi.so.2").c_str(), RTLD_LAZY | RTLD_LOCAL);
  ASSERT_NE(by_soname, nullptr) << ::dlerror();
  EXPECT_EQ(by_plain_name, by_soname);
  for (const std::string& name : gdrapi_symbols) EXPECT_NE(::dlsym(by_soname, name.c_str()), nullptr) << name;
  const auto get_version = reinterpret_cast<void (*)(int*, int*)>(::dlsym(by_soname, "gdr_runtime_get_version"));
  int major = 0;
  int minor = 0;
  get_version(&major, &minor);
  EXPECT_EQ(major, 2);
  EXPECT_EQ(minor, 6);
  EXPECT_EQ(::dlclose(by_soname), 0);
  EXPECT_EQ(::dlclose(by_plain_name), 0);
  // Never unloaded: functions that were looked up may still be called.
  get_version(&major, &minor);
  EXPECT_EQ(minor, 6);
}

TEST(DropInLibrary, HeaderKeepsTheVersionMacrosThatPackagersParse) {
  std::ifstream header(fs::path(GDRKIT_INCLUDE_DIRECTORY) / "gdrapi.h");
  std::vector<std::string> versions;
  for (std::string line; std::getline(header, line);) {
    if (line.starts_with("#define GDR_API_M")) versions.push_back(line);
  }
  EXPECT_EQ(versions, (std::vector<std::string>{"#define GDR_API_MAJOR_VERSION 2", "#define GDR_API_MINOR_VERSION 6"}));
}

}  // namespace
}  // namespace gdrkit::tests
