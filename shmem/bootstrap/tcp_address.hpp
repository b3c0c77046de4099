// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TcpAddress: where PE 0 listens.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "shmem/bootstrap/deadline.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// IPv4 or IPv6.
class TcpAddress {
 public:
  TcpAddress() noexcept = default;
  TcpAddress(const sockaddr* address, socklen_t size) noexcept;

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  [[nodiscard]] bool is_loopback() const noexcept;
  /// Whether an interface of this machine, or of this container, has this address.
  [[nodiscard]] bool is_of_this_machine() const noexcept;
  [[nodiscard]] std::string text() const;  ///< "10.0.0.1:4711", "[fe80::1%eth0]:4711"

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

/// Of this machine, port 0: of the network interface of that name; "": of the first that is up and not the loopback,
/// IPv4 first, else the loopback's.
[[nodiscard]] base::Result<TcpAddress> address_of_interface(const std::string& interface);
/// "host:port" or "[address]:port".
[[nodiscard]] base::Result<std::vector<TcpAddress>> resolve(const std::string& host_and_port);

/// Listens there, or on every address of this machine. A port of 0: any free one.
[[nodiscard]] base::Result<base::UniqueFd> listen_at(const TcpAddress& address);
[[nodiscard]] base::Result<base::UniqueFd> listen_everywhere(std::uint16_t port);
[[nodiscard]] base::Result<TcpAddress> address_of(int listener);

/// Connects to the first address that accepts. Retries until the deadline, unless `is_listening`: then a refused
/// connection means that PE 0 has ended.
[[nodiscard]] base::Result<base::UniqueFd> connect_to(const std::vector<TcpAddress>& addresses, bool is_listening,
                                                      const Deadline& deadline);

}  // namespace gdrkit::shmem_impl::bootstrap
