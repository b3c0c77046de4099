// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The list of backends, generated from backends.def, and functions that all backends share.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "backend/backend.hpp"

namespace gdrkit::backend {

std::span<const Registration> registrations() noexcept {
  static constexpr Registration list[] = {
#define GDRKIT_BACKEND(name, summary, automatic) {#name, summary, automatic, &open_##name},
#include "backend/backends.def"
#undef GDRKIT_BACKEND
  };
  return list;
}

base::Result<std::size_t> length_to_map(const BackendPin& pin, std::size_t size_bytes, const void* mapped) noexcept {
  if (mapped != nullptr)
    return base::fail(EIO, "cannot map the pin: an earlier unmap of the pin failed; unpin the memory");
  if (size_bytes == 0) return base::fail_literal(EINVAL, "cannot map 0 bytes; use a size of at least 1");
  if (size_bytes > pin.page_bytes())
    return base::fail(EINVAL, "cannot map %zu bytes: only %zu bytes are pinned", size_bytes, pin.page_bytes());
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (size_bytes + page - 1) & ~(page - 1);
}

base::Status keep_from_children(driver::System& system, void* mapping, std::size_t size_bytes) noexcept {
  const int advised = driver::as_user_errno(system.madvise(mapping, size_bytes, MADV_DONTFORK));
  if (advised >= 0) return {};
  return base::fail(-advised, "cannot exclude the mapping from forked children: madvise(MADV_DONTFORK): %s",
                    std::strerror(-advised));
}

}  // namespace gdrkit::backend
