// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/capi/settings.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "base/settings.hpp"

namespace gdrkit::shmem {
namespace {

constexpr std::uint64_t default_heap_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t default_limit_s = 300;

/// 0 bits to shift for no unit; -1 for one that there is not.
int shift_of(std::string_view unit) noexcept {
  constexpr std::string_view units = "KMGT";
  if (unit.empty()) return 0;
  const std::size_t found = units.find(unit.front());
  return unit.size() == 1 && found != std::string_view::npos ? 10 * (static_cast<int>(found) + 1) : -1;
}

/// Leaves *value alone where the variable is not set or empty.
base::Status read(const char* name, bool has_units, std::uint64_t* value) noexcept {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return {};
  const std::string_view all(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number);
  const int shift = shift_of(all.substr(static_cast<std::size_t>(end - all.data())));
  const bool is_valid = error == std::errc() && shift >= 0 && (has_units || shift == 0) && number != 0;
  if (!is_valid || number > (UINT64_MAX >> shift)) {
    return base::fail(EINVAL, "%s=%s is no %s", name, text, has_units ? "size (64M, 2G)" : "number of seconds");
  }
  *value = number << shift;
  return {};
}

base::Result<bool> read_switch(const char* name) noexcept {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0' || std::strcmp(text, "0") == 0) return false;
  if (std::strcmp(text, "1") == 0) return true;
  return base::fail(EINVAL, "%s=%s is neither 0 nor 1", name, text);
}

std::string text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

base::Result<RemoteWay> read_remote_way() noexcept {
  constexpr const char* name = "GDRKIT_SHMEM_REMOTE";
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return RemoteWay::automatic;
  if (std::strcmp(text, "direct") == 0) return RemoteWay::direct;
  if (std::strcmp(text, "staged") == 0) return RemoteWay::staged;
  if (std::strcmp(text, "copied") == 0) return RemoteWay::copied;
  return base::fail(EINVAL, "%s=%s is none of direct, staged, copied", name, text);
}

}  // namespace

base::Result<PeOptions> options_from_environment() noexcept try {
  PeOptions options;
  options.heap_bytes = default_heap_bytes;
  std::uint64_t seconds = default_limit_s;
  if (auto known = read("GDRKIT_SHMEM_HEAP", true, &options.heap_bytes); !known) return base::pass(known);
  if (auto known = read("GDRKIT_SHMEM_HEAP_MAX", true, &options.heap_max_bytes); !known) return base::pass(known);
  if (auto known = read("GDRKIT_SHMEM_TIMEOUT_S", false, &seconds); !known) return base::pass(known);
  const auto compares = read_switch("GDRKIT_SHMEM_CHECK_COLLECTIVES");
  if (!compares) return base::pass(compares);
  const auto is_p2p_disabled = read_switch("GDRKIT_SHMEM_DISABLE_P2P");
  if (!is_p2p_disabled) return base::pass(is_p2p_disabled);
  const auto way = read_remote_way();
  if (!way) return base::pass(way);
  options.compares_stream_collectives = *compares;
  options.is_p2p_disabled = *is_p2p_disabled;
  options.remote_way = *way;
  options.host_id = text_of("GDRKIT_SHMEM_HOSTID");
  options.socket_folder = text_of("GDRKIT_SHMEM_SOCKET_DIR");
  options.reading_engine = base::read_settings().engine;
  constexpr std::uint64_t largest = 1000000000;
  options.limit = std::chrono::seconds(seconds < largest ? seconds : largest);
  return options;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while the environment was read");
}

}  // namespace gdrkit::shmem
