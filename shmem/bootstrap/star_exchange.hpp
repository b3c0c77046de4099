// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// An exchange over a star of TCP connections.
#pragma once

#include <memory>
#include <vector>

#include "shmem/bootstrap/exchange.hpp"
#include "shmem/bootstrap/tcp_address.hpp"
#include "shmem/bootstrap/token.hpp"
#include "shmem/bootstrap/unique_fd.hpp"

namespace gdrkit::shmem {

/// EINVAL for a PE that cannot be.
[[nodiscard]] base::Status check_pe(int pe, int n_pes) noexcept;

/// PE 0 with its listener; `where` is what it is called in messages.
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> listen_for_pes(UniqueFd listener, const std::string& where,
                                                                     const Token& token, int n_pes,
                                                                     std::chrono::milliseconds limit);
/// Another PE. `is_listening`: PE 0 listened there before this call.
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> connect_to_pe_0(const std::vector<TcpAddress>& addresses,
                                                                      bool is_listening, const Token& token, int pe,
                                                                      int n_pes, std::chrono::milliseconds limit);

}  // namespace gdrkit::shmem
