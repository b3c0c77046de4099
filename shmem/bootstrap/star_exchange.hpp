// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// An exchange over a star of TCP connections.
#pragma once

#include <memory>
#include <vector>

#include "base/unique_fd.hpp"
#include "shmem/bootstrap/exchange.hpp"
#include "shmem/bootstrap/rendezvous.hpp"
#include "shmem/bootstrap/tcp_address.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// EINVAL: `pe` or `n_pes` is out of range.
[[nodiscard]] base::Status check_pe(int pe, int n_pes) noexcept;

/// For PE 0. `where` names its address in messages.
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> listen_for_pes(base::UniqueFd listener, const std::string& where,
                                                                     const secret::Key& secret, int n_pes,
                                                                     std::chrono::milliseconds limit);
/// The same for PEs of this user on this machine. Linux identifies the user of each end, so the secret may be public.
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> listen_for_own_pes(LocalListener listener,
                                                                         const std::string& where,
                                                                         const secret::Key& secret, int n_pes,
                                                                         std::chrono::milliseconds limit);
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> connect_to_own_pe_0(const Rendezvous& rendezvous,
                                                                          const Token& name, const std::string& where,
                                                                          const secret::Key& secret, int pe, int n_pes,
                                                                          std::chrono::milliseconds limit);
/// For the other PEs. `is_listening`: PE 0 listened there before this call.
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> connect_to_pe_0(const std::vector<TcpAddress>& addresses,
                                                                      bool is_listening, const secret::Key& secret,
                                                                      int pe, int n_pes,
                                                                      std::chrono::milliseconds limit);

}  // namespace gdrkit::shmem_impl::bootstrap
