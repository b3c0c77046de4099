// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The README's example on the emulated device, through the library that users link.
#include "examples/first_copy.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "shim/emulated_memory.hpp"

#ifndef GDRKIT_SOURCE_DIR
#error "the build says where the sources are"
#endif

namespace gdrkit::tests {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::string(GDRKIT_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class FirstCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("GDRKIT_BACKEND", "emulated", 1), 0);
    const auto allocated = shim::emulated_allocate(bytes, shim::EmulatedKind::device);
    ASSERT_TRUE(allocated) << base::detail();
    address_ = *allocated;
  }
  void TearDown() override {
    unsetenv("GDRKIT_BACKEND");
    if (address_ == 0) return;
    EXPECT_TRUE(shim::emulated_free(address_)) << base::detail();
  }

  static constexpr std::size_t bytes = 8192;
  std::uint64_t address_ = 0;
};

TEST_F(FirstCopy, ReadsBackWhatItWroteAndLeavesItInDeviceMemory) {
  EXPECT_TRUE(first_copy(reinterpret_cast<const void*>(address_), bytes));

  // The oracle is the emulated device's own memory, looked at without the library.
  const auto* memory = reinterpret_cast<const unsigned char*>(address_);
  for (std::uint32_t i = 0; i < 1024; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, memory + std::size_t{i} * 4, sizeof value);
    ASSERT_EQ(value, i * i);
  }
  std::uint32_t flag = 0;
  std::memcpy(&flag, memory + 4096, sizeof flag);
  EXPECT_EQ(flag, 1U);
}

TEST_F(FirstCopy, SaysWhyWhenThereIsNoBackend) {
  ASSERT_EQ(setenv("GDRKIT_BACKEND", "nothing", 1), 0);
  try {
    first_copy(reinterpret_cast<const void*>(address_), bytes);
    FAIL() << "a backend called \"nothing\" was opened";
  } catch (const gdrkit::Error& error) {
    EXPECT_NE(std::string(error.what()).find("no backend is called \"nothing\""), std::string::npos) << error.what();
  }
}

// The README promises what this program does, so its lines must be this program's.
TEST(Readme, ShowsTheExamplesOwnLines) {
  const std::string readme = read("README.md");
  const std::string example = read("examples/first_copy.hpp");
  ASSERT_NE(readme.find("```cpp"), std::string::npos);
  std::istringstream block(readme.substr(readme.find("```cpp") + 6));
  int lines_found = 0;
  for (std::string line; std::getline(block, line) && line != "```";) {
    const std::string code = line.substr(0, line.find("//"));
    const std::size_t first = code.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    const std::string trimmed = code.substr(first, code.find_last_not_of(' ') - first + 1);
    EXPECT_NE(example.find(trimmed), std::string::npos) << "not in the example: " << trimmed;
    ++lines_found;
  }
  EXPECT_GE(lines_found, 6);
}

}  // namespace
}  // namespace gdrkit::tests
