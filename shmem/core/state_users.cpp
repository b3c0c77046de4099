// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/core/state_users.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "shmem/core/current.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

struct Users {
  std::mutex mutex;  // held while a PE is filled and kept, and while a new user is called for all PEs, so that no pair
                     // is missed
  std::vector<gdrkit_shmem_fill_state_t> fills;
};

// Never destroyed: translation units register and leave in their static constructors and destructors.
Users& users() noexcept {
  static auto* const one = new Users;
  return *one;
}

/// Call it with the mutex locked, so that no user is called after its removal.
base::Status call_all(Pe& pe) noexcept {
  base::Status filled;
  for (const auto fill : users().fills) base::keep_first(filled, pe.gpu_code().fill_state(fill));
  return filled;
}

}  // namespace

base::Status add_state_user(gdrkit_shmem_fill_state_t fill) noexcept try {
  const std::lock_guard lock(users().mutex);
  users().fills.push_back(fill);
  return for_each_pe([&](Pe& pe) { return pe.gpu_code().fill_state(fill); });
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory during gdrkit_shmem_register_state");
}

void remove_state_user(gdrkit_shmem_fill_state_t fill) noexcept {
  const std::lock_guard lock(users().mutex);
  std::erase(users().fills, fill);
}

base::Status fill_states(Pe& pe) noexcept {
  const std::lock_guard lock(users().mutex);
  return call_all(pe);
}

base::Status fill_and_keep(std::unique_ptr<Pe> pe) noexcept {
  const std::lock_guard lock(users().mutex);
  if (auto filled = call_all(*pe); !filled) return filled;
  return base::status_of(keep_pe(std::move(pe)));
}

}  // namespace gdrkit::shmem_impl::core
