// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Turns backends.def into the list that core, the tools and the conformance suite read.
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

}  // namespace gdrkit::backend
