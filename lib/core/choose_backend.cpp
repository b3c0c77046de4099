// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/open.hpp"

#include <string>

#include "core/core.hpp"
#include "core/fork_guard.hpp"

namespace gdrkit::core {
namespace {

std::string names_of(std::span<const backend::Registration> backends) {
  std::string names;
  for (const backend::Registration& entry : backends) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

base::Result<std::unique_ptr<backend::Backend>> open_forced(std::span<const backend::Registration> backends,
                                                            const base::Settings& settings) {
  for (const backend::Registration& entry : backends) {
    if (settings.backend == entry.name) return entry.open(settings);
  }
  return base::fail(EINVAL, "unknown backend \"%s\"; set option backend or variable GDRKIT_BACKEND to one of: %s",
                    settings.backend.c_str(), names_of(backends).c_str());
}

}  // namespace

base::Result<std::unique_ptr<backend::Backend>> choose_backend(std::span<const backend::Registration> backends,
                                                               const base::Settings& settings) {
  if (!settings.backend.empty()) return open_forced(backends, settings);
  std::string reasons;
  std::unique_ptr<backend::Backend> untried;
  for (const backend::Registration& entry : backends) {
    if (!reasons.empty()) reasons += "; ";
    reasons += std::string("[") + entry.name + "] ";
    if (!entry.automatic) {
      reasons += std::string("used only on request (GDRKIT_BACKEND=") + entry.name + ")";
      continue;
    }
    base::Result<std::unique_ptr<backend::Backend>> opened = entry.open(settings);
    if (opened && !(*opened)->traits().is_untried) return opened;
    reasons += opened ? "not tested" : opened.error().text();
    if (opened && untried == nullptr) untried = std::move(*opened);
  }
  if (untried != nullptr) return untried;
  return base::fail(ENODEV, "cannot open a context: no backend is usable: %s", reasons.c_str());
}

base::Result<BackendReport> probe_backend(unsigned index, const base::Settings& settings) noexcept {
  const std::span<const backend::Registration> backends = backend::registrations();
  if (index >= backends.size())
    return base::fail(ENOENT, "invalid backend index %u: this library has %zu backends", index, backends.size());
  if (base::Status guarded = install_fork_handlers(); !guarded) return base::pass(guarded);
  const BackendCall call;  // until the backend is closed: no child may inherit its resources
  const base::Result<std::unique_ptr<backend::Backend>> opened = backends[index].open(settings);
  return BackendReport{&backends[index], opened ? base::Status() : base::pass(opened)};
}

}  // namespace gdrkit::core
