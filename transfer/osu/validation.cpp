// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/validation.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/result.hpp"

namespace gdrkit::tools::osu {
namespace {

constexpr std::uint8_t untouched = 0xee;

/// Never `untouched`, so that a byte that did not come is wrong.
std::uint8_t byte_at(std::size_t at, bool of_first) {
  return static_cast<std::uint8_t>((at * 7 + (at >> 8) + (of_first ? 1 : 100)) % 0xe0);
}

/// The buffers of this rank, wherever they are.
class Buffers {
 public:
  Buffers(const Part& part, platform::Device& device) : is_host_(part.place == 'H'), device_(device) {}
  void write(std::uint64_t target, const std::vector<std::uint8_t>& bytes, std::size_t count) {
    if (is_host_) {
      std::memcpy(reinterpret_cast<void*>(target), bytes.data(), count);
    } else {
      require(device_.copy_to_device(target, bytes.data(), count));
    }
  }
  void read(std::vector<std::uint8_t>& bytes, std::uint64_t source) {
    if (is_host_) {
      std::memcpy(bytes.data(), reinterpret_cast<const void*>(source), bytes.size());
    } else {
      require(device_.copy_to_host(bytes.data(), source, bytes.size()));
    }
  }

 private:
  static void require(const base::Status& status) {
    if (!status) throw Failure(ExitCode::failed, std::string("gdrkit osu: validation: ") + status.error().text());
  }
  bool is_host_;
  platform::Device& device_;
};

}  // namespace

std::uint64_t count_wrong_bytes(const Part& part, Work work, platform::Device& device) {
  if (work.test->loop == Loop::fetch_each) return 0;
  std::vector<std::uint8_t> bytes(work.size_bytes + 1);
  // A get fills the origin's source; everything else fills the other side's target.
  const bool is_get = work.test->loop == Loop::get_each || work.test->loop == Loop::get_window;
  const std::uint64_t from = is_get ? part.engine->target() : part.engine->source();
  const std::uint64_t to = is_get ? part.engine->source() : part.engine->target();
  for (std::size_t i = 0; i < work.size_bytes; ++i) bytes[i] = byte_at(i, part.is_first);
  Buffers buffers(part, device);
  buffers.write(from, bytes, work.size_bytes);
  std::fill(bytes.begin(), bytes.end(), untouched);
  buffers.write(to, bytes, bytes.size());
  part.engine->barrier();
  run_once(part, work);
  part.engine->barrier();
  const bool answers_only = part.is_first && work.test->loop == Loop::stream;
  const bool comes_here =
      is_get ? part.is_first : !part.is_first || work.test->is_both_ways() || work.test->loop == Loop::ping_pong;
  if (answers_only || !comes_here) return 0;
  buffers.read(bytes, to);
  std::uint64_t wrong = bytes[work.size_bytes] != untouched ? 1 : 0;
  for (std::size_t i = 0; i < work.size_bytes; ++i) wrong += bytes[i] != byte_at(i, !part.is_first) ? 1 : 0;
  return wrong;
}

}  // namespace gdrkit::tools::osu
