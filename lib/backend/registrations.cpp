// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Turns backends.def into the list that core, the tools and the conformance suite read; what all backends share.
#include <unistd.h>

#include "backend/backend.hpp"

namespace gdrkit::backend {

#define GDRKIT_BACKEND(name, summary, automatic) \
  base::Result<std::unique_ptr<Backend>> open_##name(const base::Settings& settings) noexcept;
#include "backend/backends.def"
#undef GDRKIT_BACKEND

RegistrationList registrations() noexcept {
  static constexpr Registration list[] = {
#define GDRKIT_BACKEND(name, summary, automatic) {#name, summary, automatic, &open_##name},
#include "backend/backends.def"
#undef GDRKIT_BACKEND
  };
  return {list, sizeof(list) / sizeof(list[0])};
}

base::Result<std::size_t> length_to_map(const BackendPin& pin, std::size_t size_bytes, const void* mapped) noexcept {
  if (mapped != nullptr) return base::fail(EIO, "cannot map the pin: an earlier mapping could not be undone; unpin it");
  if (size_bytes == 0 || size_bytes > pin.page_bytes())
    return base::fail(EINVAL, "cannot map %zu bytes: 1 to %zu are pinned", size_bytes, pin.page_bytes());
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (size_bytes + page - 1) & ~(page - 1);
}

}  // namespace gdrkit::backend
