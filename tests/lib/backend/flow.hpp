// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A flow: opens, pins, maps, unmaps, unpins and closes, while each of its calls or allocations fails once.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "fakes/allocation_faults.hpp"
#include "fakes/fault_injection.hpp"

namespace gdrkit::backend {

/// How the calls of a flow fail.
struct NamedFault {
  const char* name;
  fakes::Fault fault;
};
inline std::ostream& operator<<(std::ostream& out, const NamedFault& fault) { return out << fault.name; }

struct FlowEnd {
  const char* failed_step = nullptr;  ///< nullptr: every step succeeded
  base::Error error;
  bool shows_the_memory = false;  ///< while it was mapped
};

/// Runs all steps after `open`, also after an error of unmap, and records the first error. Expects that the memory at
/// `address` contains `content`. After `open`, only the library allocates memory.
inline FlowEnd run_flow(base::Result<std::unique_ptr<Backend>> backend, std::uint64_t address,
                        const std::vector<std::uint8_t>& content, MappingType type = MappingType::none) {
  FlowEnd end;
  const auto note = [&end](const char* step, const auto& result) {
    if (result || end.failed_step != nullptr) return;
    end.failed_step = step;
    end.error = result.error();
  };
  note("open", backend);
  if (!backend) return end;
  auto pin = (*backend)->pin({address, content.size(), false, true});
  note("pin", pin);
  if (!pin) return end;
  const auto mapped = (*pin)->map((*pin)->page_bytes(), type);
  note("map", mapped);
  if (!mapped) return end;
  const auto* own = static_cast<std::uint8_t*>(mapped->address) + (address - (*pin)->page_address());
  end.shows_the_memory = std::memcmp(own, content.data(), content.size()) == 0;
  note("unmap", (*pin)->unmap());
  if (type != MappingType::none) note("map without a type", (*pin)->map((*pin)->page_bytes(), MappingType::none));
  note("unpin", (*pin)->unpin());
  return end;
}

inline void expect_sane(const FlowEnd& end, const std::string& what) {
  if (end.failed_step == nullptr) {
    EXPECT_TRUE(end.shows_the_memory) << what;
    return;
  }
  EXPECT_GT(end.error.errno_value, 0) << what;
  EXPECT_LE(end.error.errno_value, EHWPOISON) << what << ": not an errno of user space";
  EXPECT_STRNE(end.error.text(), "") << what << ": " << end.failed_step << " failed without a text";
}

/// Makes a Scene for each call of its flow, in which this call fails: scene->run() succeeds or returns a sane error,
/// and succeeds afterwards. scene->expect_released(end, what) checks what is left. There must be more than `least`
/// calls.
template <class MakeScene>
void fail_each_call(const fakes::Fault& fault, int least, MakeScene make_scene) {
  int reached = 0;
  for (int call = 0;; ++call) {
    const auto scene = make_scene();
    scene->plan.fail_call(call, fault);
    const FlowEnd end = scene->run();
    const std::string what = "call " + std::to_string(call) + " (" + scene->plan.failed_call() + ") failed";
    expect_sane(end, what);
    scene->expect_released(end, what);
    if (!scene->plan.was_reached()) {
      EXPECT_EQ(end.failed_step, nullptr) << end.error.text();
      break;
    }
    ++reached;
    scene->plan.stop();
    const FlowEnd again = scene->run();
    EXPECT_EQ(again.failed_step, nullptr) << what << "; it must work afterwards: " << again.error.text();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(reached, least) << "the plan must reach the calls of this flow";
}

/// The same for each allocation, in a program with failing_operator_new.cpp.
template <class MakeScene>
void fail_each_allocation(int least, MakeScene make_scene) {
  int reached = 0;
  for (int allocation = 0;; ++allocation) {
    const auto scene = make_scene();
    fakes::allocation_faults = {allocation, 0, false};
    const FlowEnd end = scene->run();
    const bool was_reached = fakes::allocation_faults.was_reached;
    fakes::allocation_faults = {};
    const std::string what = "allocation " + std::to_string(allocation) + " failed";
    expect_sane(end, what);
    scene->expect_released(end, what);
    if (end.failed_step != nullptr) {
      EXPECT_EQ(end.error.errno_value, ENOMEM) << what << ": " << end.error.text();
    }
    if (!was_reached || testing::Test::HasFailure()) break;
    ++reached;
  }
  EXPECT_GT(reached, least);
}

}  // namespace gdrkit::backend
