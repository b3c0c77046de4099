// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/launcher_store.hpp"

#include <atomic>
#include <cstdlib>
#include <optional>

#include "shmem/bootstrap/token.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

std::optional<UniqueId> from_hex(const std::string& text) {
  UniqueId id;
  if (text.size() != 2 * sizeof id.bytes) return std::nullopt;
  const std::string digits = "0123456789abcdef";
  for (std::size_t i = 0; i < sizeof id.bytes; ++i) {
    const std::size_t high = digits.find(text[2 * i]);
    const std::size_t low = digits.find(text[2 * i + 1]);
    if (high == std::string::npos || low == std::string::npos) return std::nullopt;
    id.bytes[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return id;
}

}  // namespace

base::Result<UniqueId> share_unique_id(int pe, std::chrono::milliseconds limit) {
  const bool has_pmix = std::getenv("PMIX_NAMESPACE") != nullptr;
  if (!has_pmix && std::getenv("PMI_FD") == nullptr) return base::fail(ENOTSUP, "it offers neither PMIx nor PMI-1");
  // All PEs of a job are made by as many calls.
  static std::atomic<int> calls{0};
  const std::string key = "gdrkit-shmem-" + std::to_string(calls++);
  std::string value;
  if (pe == 0) {
    const auto made = make_unique_id();
    if (!made) return base::pass(made);
    value = to_hex(made->bytes);
  }
  const auto shared = has_pmix ? share_by_pmix(pe, key, value, limit) : share_by_pmi1(pe, key, value, limit);
  if (!shared) return base::pass(shared);
  const auto id = from_hex(*shared);
  if (!id) return base::fail(EPROTO, "it returned '%s' instead of the unique id of PE 0", shared->c_str());
  return *id;
}

}  // namespace gdrkit::shmem_impl::bootstrap
