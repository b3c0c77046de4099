// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Records every access of code to a memory region, with page faults and single steps.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace gdrkit::testing {

#if defined(__x86_64__)
/// Executes one instruction, with the trap flag of the CPU.
class SingleStep {
 public:
  static const std::uint8_t* instruction(const ucontext_t* context) {
    return reinterpret_cast<const std::uint8_t*>(context->uc_mcontext.gregs[REG_RIP]);
  }
  void begin(ucontext_t* context) { context->uc_mcontext.gregs[REG_EFL] |= trap_flag; }
  void end(ucontext_t* context) { context->uc_mcontext.gregs[REG_EFL] &= ~trap_flag; }

 private:
  static constexpr greg_t trap_flag = 0x100;
};
#else
/// Executes one instruction, by replacing the next one with a trap. An instruction that accesses memory never branches,
/// and every instruction has four bytes. The system must permit writable code pages.
class SingleStep {
 public:
  static const std::uint8_t* instruction(const ucontext_t* context) {
#if defined(__aarch64__)
    return reinterpret_cast<const std::uint8_t*>(context->uc_mcontext.pc);
#else
    return reinterpret_cast<const std::uint8_t*>(context->uc_mcontext.gp_regs[program_counter]);
#endif
  }
  void begin(ucontext_t* context) {
    next_ = const_cast<std::uint8_t*>(instruction(context)) + sizeof replaced_;
    const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(next_) & ~(page_bytes - 1));
    mprotect(page, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
    std::memcpy(&replaced_, next_, sizeof replaced_);
    put(trap);
  }
  void end(ucontext_t*) { put(replaced_); }

 private:
#if defined(__aarch64__)
  static constexpr std::uint32_t trap = 0xd4200000;  // brk #0
#else
  static constexpr std::uint32_t trap = 0x7fe00008;  // trap
  static constexpr int program_counter = 32;         // PT_NIP of <asm/ptrace.h>
#endif
  void put(std::uint32_t instruction) {
    std::memcpy(next_, &instruction, sizeof instruction);
#if defined(__aarch64__)
    __builtin___clear_cache(reinterpret_cast<char*>(next_), reinterpret_cast<char*>(next_ + sizeof instruction));
#else
    asm volatile("dcbst 0, %0\n\tsync\n\ticbi 0, %0\n\tsync\n\tisync" : : "r"(next_) : "memory");
#endif
  }

  std::uint8_t* next_ = nullptr;
  std::uint32_t replaced_ = 0;
};
#endif

struct Access {
  std::size_t offset;   ///< of the first byte in the region
  std::size_t width;    ///< bytes written; 0 for a load
  bool streaming_load;  ///< the instruction is MOVNTDQA in any encoding
};

/// A memory region whose accesses can be recorded. While a recording runs, each access faults; the region becomes
/// accessible for that one instruction, is checked, and becomes inaccessible again. The region is zeroed after each
/// access to find the written bytes, so recorded code must not write zero bytes. An instruction with a REP prefix traps
/// after each iteration, so the recorder shows its iterations, not the accesses that the CPU makes of them. One thread,
/// one recording at a time.
class AccessRecorder {
 public:
  static constexpr std::size_t region_bytes = 8192;

  AccessRecorder() {
    void* mapped = mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    region_ = static_cast<unsigned char*>(mapped);
  }
  ~AccessRecorder() { munmap(region_, region_bytes); }
  AccessRecorder(const AccessRecorder&) = delete;
  AccessRecorder& operator=(const AccessRecorder&) = delete;

  [[nodiscard]] unsigned char* region() const { return region_; }

  template <class Code>
  std::vector<Access> record_stores(Code&& code) {
    std::memset(region_, 0, region_bytes);
    return record(true, code);
  }
  /// Does not change the content of the region.
  template <class Code>
  std::vector<Access> record_loads(Code&& code) {
    return record(false, code);
  }

 private:
  static constexpr std::size_t capacity = 4096;

  template <class Code>
  std::vector<Access> record(bool stores, Code&& code) {
    count_ = 0;
    stores_ = stores;
    active_ = region_;
    struct sigaction fault {};
    fault.sa_sigaction = on_fault;
    fault.sa_flags = SA_SIGINFO;
    struct sigaction step {};
    step.sa_sigaction = on_step;
    step.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &fault, &old_fault_);
    sigaction(SIGTRAP, &step, &old_step_);
    mprotect(region_, region_bytes, PROT_NONE);
    code();
    mprotect(region_, region_bytes, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &old_fault_, nullptr);
    sigaction(SIGTRAP, &old_step_, nullptr);
    if (count_ == capacity) throw std::length_error("more accesses than the recorder can store");
    return {accesses_.begin(), accesses_.begin() + static_cast<std::ptrdiff_t>(count_)};
  }

  static bool is_streaming_load([[maybe_unused]] const std::uint8_t* instruction) {
#if defined(__x86_64__)
    if (instruction[0] == 0x66) {  // legacy encoding, optionally with REX: 66 0F 38 2A
      const std::uint8_t* opcode = instruction + ((instruction[1] & 0xf0) == 0x40 ? 2 : 1);
      return opcode[0] == 0x0f && opcode[1] == 0x38 && opcode[2] == 0x2a;
    }
    if (instruction[0] == 0xc4) return (instruction[1] & 0x1f) == 2 && instruction[3] == 0x2a;  // VEX.0F38
    if (instruction[0] == 0x62) return (instruction[1] & 0x07) == 2 && instruction[4] == 0x2a;  // EVEX.0F38
#endif
    return false;
  }

  static void on_fault(int, siginfo_t* info, void* context) {
    auto* machine = static_cast<ucontext_t*>(context);
    const auto* address = static_cast<unsigned char*>(info->si_addr);
    if (address < active_ || address >= active_ + region_bytes || count_ == capacity) {
      sigaction(SIGSEGV, &old_fault_, nullptr);  // not an access to the region: the instruction faults again
      return;
    }
    const bool streams = is_streaming_load(SingleStep::instruction(machine));
    accesses_[count_] = {static_cast<std::size_t>(address - active_), 0, streams};
    mprotect(active_, region_bytes, PROT_READ | PROT_WRITE);
    step_.begin(machine);
  }

  static void on_step(int, siginfo_t*, void* context) {
    step_.end(static_cast<ucontext_t*>(context));
    Access& access = accesses_[count_++];
    if (stores_) {
      // Count all written bytes in the region, so that an access to two places results in an invalid width.
      for (std::size_t at = 0; at < region_bytes; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, active_ + at, 8);
        if (word == 0) continue;
        for (std::size_t byte = at; byte < at + 8; ++byte) access.width += active_[byte] != 0;
        std::memset(active_ + at, 0, 8);
      }
    }
    mprotect(active_, region_bytes, PROT_NONE);
  }

  unsigned char* region_;
  inline static unsigned char* active_ = nullptr;
  inline static bool stores_ = false;
  inline static std::size_t count_ = 0;
  inline static std::array<Access, capacity> accesses_{};
  inline static SingleStep step_;
  inline static struct sigaction old_fault_ {};
  inline static struct sigaction old_step_ {};
};

}  // namespace gdrkit::testing
