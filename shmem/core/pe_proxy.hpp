// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PeProxyWork: carries out what a PE's GPU kernels want of PEs on other machines, by the PE's own calls.
#pragma once

#include "base/result.hpp"
#include "shmem/proxy/proxy.hpp"

namespace gdrkit::shmem_impl::core {

class Pe;

class PeProxyWork final : public proxy::ProxyWork {
 public:
  explicit PeProxyWork(Pe& pe) noexcept : pe_(pe) {}
  base::Status begin(const shmem::detail::ProxyCommand& command, std::uint64_t* fetched) noexcept override;
  base::Status complete() noexcept override;

 private:
  base::Status put(const shmem::detail::ProxyCommand& command) noexcept;
  base::Status arrive(std::uint64_t round) noexcept;

  Pe& pe_;
};

}  // namespace gdrkit::shmem_impl::core
