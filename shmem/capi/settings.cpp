// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/capi/settings.hpp"

#include <gdrkit/gdrkit.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/number.hpp"
#include "base/settings.hpp"
#include "base/size.hpp"

namespace gdrkit::shmem_impl::capi {
namespace {

constexpr std::uint64_t default_heap_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t default_limit_s = 300;

/// Leaves *value alone if the variable is not set or empty.
base::Status read_with(std::optional<std::size_t> (*parse)(std::string_view) noexcept, const char* grammar,
                       const char* name, std::uint64_t* value) noexcept {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return {};
  const auto parsed = parse(text);
  if (!parsed) return base::fail(EINVAL, "invalid %s=%s; %s", name, text, grammar);
  if (*parsed == 0)
    return base::fail(EINVAL, "invalid %s=%s: 0 is not allowed; unset the variable to use the default", name, text);
  *value = *parsed;
  return {};
}

base::Status read_size(const char* name, std::uint64_t* value) noexcept {
  const auto parse = [](std::string_view text) noexcept { return base::to_size(text); };
  return read_with(parse, base::size_grammar, name, value);
}

base::Status read_nvshmem_size(const char* name, std::uint64_t* value) noexcept {
  return read_with(base::to_nvshmem_size, "write bytes, or k, m, g or t for powers of 1024, for example 64m", name,
                   value);
}

base::Status read_seconds(const char* name, std::uint64_t* value) noexcept {
  const auto parse = [](std::string_view text) noexcept -> std::optional<std::size_t> {
    std::size_t number = 0;
    return base::parse_number(text, &number) ? std::optional(number) : std::nullopt;
  };
  return read_with(parse, "write a whole number of seconds", name, value);
}

base::Result<bool> read_switch(const char* name) noexcept {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0' || std::strcmp(text, "0") == 0) return false;
  if (std::strcmp(text, "1") == 0) return true;
  return base::fail(EINVAL, "invalid %s=%s: use 0 or 1", name, text);
}

std::string text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// Checks GDRKIT_ENGINE when a PE starts and not at its first get.
base::Status check_engine(const std::string& engine) {
  std::string words;
  for (int i = GDRKIT_ENGINE_CPU; const char* const word = gdrkit_engine_name(i); ++i) {
    if (engine.empty() || engine == word) return {};
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return base::fail(EINVAL, "invalid GDRKIT_ENGINE=%s: use one of %s", engine.c_str(), words.c_str());
}

base::Result<transport::RemoteWay> read_remote_way() noexcept {
  constexpr const char* name = "GDRKIT_SHMEM_REMOTE";
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return transport::RemoteWay::automatic;
  if (std::strcmp(text, "direct") == 0) return transport::RemoteWay::direct;
  if (std::strcmp(text, "staged") == 0) return transport::RemoteWay::staged;
  if (std::strcmp(text, "copied") == 0) return transport::RemoteWay::copied;
  return base::fail(EINVAL, "invalid %s=%s: use direct, staged or copied", name, text);
}

}  // namespace

base::Result<core::PeOptions> options_from_environment(bool reads_nvshmem) noexcept try {
  core::PeOptions options;
  options.heap_bytes = default_heap_bytes;
  std::uint64_t seconds = default_limit_s;
  if (reads_nvshmem && text_of("GDRKIT_SHMEM_HEAP").empty()) {
    auto known = read_nvshmem_size("NVSHMEM_SYMMETRIC_SIZE", &options.heap_bytes);
    if (!known) return base::pass(known);
  }
  if (auto known = read_size("GDRKIT_SHMEM_HEAP", &options.heap_bytes); !known) return base::pass(known);
  if (auto known = read_size("GDRKIT_SHMEM_HEAP_MAX", &options.heap_max_bytes); !known) return base::pass(known);
  if (auto known = read_seconds("GDRKIT_SHMEM_TIMEOUT_S", &seconds); !known) return base::pass(known);
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
  options.socket_directory = text_of("GDRKIT_SHMEM_SOCKET_DIR");
  options.reading_engine = base::read_settings().engine;
  if (base::Status known = check_engine(options.reading_engine); !known) return base::pass(known);
  constexpr std::uint64_t largest = 1000000000;
  options.limit = std::chrono::seconds(seconds < largest ? seconds : largest);
  return options;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while reading the environment");
}

}  // namespace gdrkit::shmem_impl::capi
