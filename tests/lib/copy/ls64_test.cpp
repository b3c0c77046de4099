// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "ls64" on CPUs without its instructions: a handler of SIGILL does what the manual says of them.
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "copy/copier.hpp"

namespace gdrkit::copy {
namespace {

constexpr std::uint32_t opcode_mask = 0xfffffc00;  // all but the two registers
constexpr std::uint32_t st64b = 0xf83f9000;
constexpr std::uint32_t ld64b = 0xf83fd000;

int stores = 0;
int loads = 0;
bool is_misaligned = false;

/// Arm ARM, ST64B and LD64B: eight registers from Xt on, in ascending order, at [Xn], which must be 64-byte aligned.
void perform(int, siginfo_t*, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  std::uint32_t instruction;
  std::memcpy(&instruction, reinterpret_cast<const void*>(machine.pc), sizeof instruction);
  const std::uint32_t operation = instruction & opcode_mask;
  const std::uint32_t first = instruction & 31;
  const std::uint32_t base = (instruction >> 5) & 31;
  if ((operation != st64b && operation != ld64b) || first % 2 != 0 || first > 22) {
    signal(SIGILL, SIG_DFL);  // not ours: let it happen again
    return;
  }
  auto* const place = reinterpret_cast<std::uint64_t*>(machine.regs[base]);
  if (machine.regs[base] % 64 != 0) is_misaligned = true;
  for (std::uint32_t i = 0; i < 8; ++i) {
    std::uint64_t word = machine.regs[first + i];
    if (operation == ld64b) std::memcpy(&word, place + i, sizeof word);
    if (operation == st64b) std::memcpy(place + i, &word, sizeof word);
    machine.regs[first + i] = word;
  }
  ++(operation == st64b ? stores : loads);
  machine.pc += sizeof instruction;
}

class Ls64 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cpu::detect().ls64) GTEST_SKIP() << "this CPU has the instructions, which fault on the memory of this test";
    struct sigaction action {};
    action.sa_sigaction = perform;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, &old_);
    stores = loads = 0;
    is_misaligned = false;
    kernel_ = &*std::find_if(kernels().begin(), kernels().end(),
                             [](const KernelInfo& info) { return std::string_view(info.name) == "ls64"; });
    std::iota(std::begin(host_), std::end(host_), static_cast<unsigned char>(7));
  }
  void TearDown() override {
    if (kernel_ != nullptr) sigaction(SIGILL, &old_, nullptr);
  }

  static constexpr std::size_t lines = 5;
  alignas(64) unsigned char device_[(lines + 2) * 64] = {};
  unsigned char host_[(lines + 2) * 64] = {};
  const KernelInfo* kernel_ = nullptr;
  struct sigaction old_ {};
};

TEST_F(Ls64, StoresEachLineByOneInstruction) {
  for (std::size_t host_offset = 0; host_offset < 64; ++host_offset) {
    std::fill(std::begin(device_), std::end(device_), static_cast<unsigned char>(0));
    stores = 0;
    kernel_->store_lines(device_ + 64, host_ + host_offset, lines);
    EXPECT_EQ(stores, static_cast<int>(lines));
    std::vector<unsigned char> expected(sizeof device_, 0);
    std::copy_n(host_ + host_offset, lines * 64, expected.begin() + 64);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), device_)) << "host offset " << host_offset;
  }
  EXPECT_FALSE(is_misaligned);
  EXPECT_EQ(loads, 0);
}

TEST_F(Ls64, LoadsEachLineByOneInstruction) {
  std::iota(std::begin(device_), std::end(device_), static_cast<unsigned char>(101));
  for (std::size_t host_offset = 0; host_offset < 64; ++host_offset) {
    std::fill(std::begin(host_), std::end(host_), static_cast<unsigned char>(0));
    loads = 0;
    kernel_->load_lines(host_ + host_offset, device_ + 64, lines);
    EXPECT_EQ(loads, static_cast<int>(lines));
    std::vector<unsigned char> expected(sizeof host_, 0);
    std::copy_n(device_ + 64, lines * 64, expected.begin() + static_cast<std::ptrdiff_t>(host_offset));
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), host_)) << "host offset " << host_offset;
  }
  EXPECT_FALSE(is_misaligned);
  EXPECT_EQ(stores, 0);
}

}  // namespace
}  // namespace gdrkit::copy
