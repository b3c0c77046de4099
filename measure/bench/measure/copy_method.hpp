// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyMethod: a method of copying between host memory and a mapped buffer of the device. Each is a series of the
// result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
#include "measure/bench/session.hpp"
#include "measure/harness/direction.hpp"
#include "measure/harness/rounds.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::bench {

/// The two buffers of a copy. They must outlive the contenders that use them.
struct CopySite {
  const Session* session;
  platform::Device* device;
  platform::Stream stream;
  const MappedBuffer* buffer;
  std::uint64_t device_address;
  std::uint8_t* host;
  std::size_t size_bytes;
};

struct CopyMethod {
  const char* name;   ///< as in the schema; names that begin with memcpy are baselines in comparisons
  const char* title;  ///< human-readable
  const char* above;  ///< first line of the column's heading; "": the attribute in which the series differs
  const char* below;  ///< second line
  bool uses_pinned_memory;
  /// nullptr: all sizes are supported.
  bool (*serves)(const Session& session, std::size_t size_bytes);
  /// The contender throws Failure if a copy fails.
  Contender (*contender)(const CopySite& site, Direction direction);
};

namespace copy_methods {
#define GDRKIT_COPY_METHOD(name) extern const CopyMethod name;
#include "measure/bench/measure/methods.def"
#undef GDRKIT_COPY_METHOD
}  // namespace copy_methods

/// In the order of methods.def.
[[nodiscard]] const std::vector<const CopyMethod*>& all_copy_methods();

// Reports failures without an object that would cost time: a copy through a mapping returns a bool, the driver an
// error.
inline void check_copy(bool is_copied, const char* name) {
  if (!is_copied) cli::fail(std::string("cannot copy with method ") + name);
}
inline void check_copy(const base::Status& copied, const char* name) {
  if (copied.has_value()) return;
  cli::fail(std::string("cannot copy with method ") + name + ": " + copied.error().text());
}
inline void note_copy(bool& is_copied, bool next) { is_copied &= next; }
inline void note_copy(base::Status& copied, base::Status next) { base::keep_first(copied, std::move(next)); }

/// A contender that calls `once(number)`, which is inlined into the timed loop.
template <class Once>
Contender contender_of(const char* name, Once once) {
  Contender contender;
  contender.name = name;
  contender.run_batch = [once, name](std::size_t count) {
    std::invoke_result_t<Once, std::size_t> copied{};
    if constexpr (std::is_same_v<decltype(copied), bool>) copied = true;
    const double ns = platform::time_batch(count, [&](std::size_t number) { note_copy(copied, once(number)); });
    check_copy(copied, name);
    return ns;
  };
  contender.run_once = [once, name](std::size_t number) { check_copy(once(number), name); };
  return contender;
}

}  // namespace gdrkit::measure::bench
