// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TransferProxyWork: executes commands of a PE's GPU kernels for PEs of other nodes, through the PE's Transfers.
#pragma once

#include "base/result.hpp"
#include "shmem/proxy/proxy.hpp"

namespace gdrkit::shmem_impl::parts {

class Connections;
class Transfers;

class TransferProxyWork final : public proxy::ProxyWork {
 public:
  TransferProxyWork(Transfers& transfers, Connections& connections) noexcept
      : transfers_(transfers), connections_(connections) {}
  base::Status begin(const shmem::detail::ProxyCommand& command, std::uint64_t* fetched) noexcept override;
  base::Status complete() noexcept override;

 private:
  base::Status put(const shmem::detail::ProxyCommand& command) noexcept;
  base::Status arrive(std::uint64_t round) noexcept;

  Transfers& transfers_;
  Connections& connections_;
};

}  // namespace gdrkit::shmem_impl::parts
