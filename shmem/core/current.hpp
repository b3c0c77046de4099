// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The PEs of this process, and which of them each thread uses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "shmem/core/pe.hpp"

namespace gdrkit::shmem {

/// Keeps it and makes it the calling thread's. Answers its name, which is never used again in this process.
[[nodiscard]] base::Result<std::uint64_t> keep_pe(std::unique_ptr<Pe> pe) noexcept;
/// The calling thread's: the one it kept or used last, else the process's only one. EINVAL: there is none, or there are
/// several to choose from. Valid until drop_pe; a call costs a few nanoseconds.
[[nodiscard]] base::Result<Pe*> current_pe() noexcept;
[[nodiscard]] base::Result<std::uint64_t> current_name() noexcept;
/// From now on the calling thread's. EINVAL when there is no such PE.
base::Status use_pe(std::uint64_t name) noexcept;
/// Calls it for every PE of this process, none of which ends meanwhile; answers the first error.
base::Status for_each_pe(const std::function<base::Status(Pe&)>& function);
/// Takes the calling thread's PE out, for its end.
[[nodiscard]] base::Result<std::unique_ptr<Pe>> drop_pe() noexcept;

}  // namespace gdrkit::shmem
