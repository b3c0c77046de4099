// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// JobNode: a PE's node in a job over several nodes. It also detects ended PEs of other nodes.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "shmem/node/node.hpp"
#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::parts {

/// `remote` must outlive it.
class JobNode final : public node::Node {
 public:
  JobNode(std::unique_ptr<node::Node> node, remote::Remote& remote) noexcept
      : node_(std::move(node)), remote_(remote) {}

  [[nodiscard]] const std::vector<int>& pes() const noexcept override { return node_->pes(); }
  [[nodiscard]] bool has(int pe) const noexcept override { return node_->has(pe); }
  [[nodiscard]] int index_of(int pe) const noexcept override { return node_->index_of(pe); }
  [[nodiscard]] void* area() const noexcept override { return node_->area(); }
  [[nodiscard]] base::Result<std::vector<base::UniqueFd>> exchange_fds(int fd, const void* mine, std::size_t size_bytes,
                                                                       void* all, const char* step) noexcept override {
    return node_->exchange_fds(fd, mine, size_bytes, all, step);
  }
  [[nodiscard]] bool is_alive(int pe) noexcept override {
    return has(pe) ? node_->is_alive(pe) : remote_.first_dead() != pe;
  }
  [[nodiscard]] int first_dead() noexcept override {
    const int here = node_->first_dead();
    return here >= 0 ? here : remote_.first_dead();
  }
  void leave() noexcept override {
    remote_.leave();
    node_->leave();
  }
  void poll() noexcept override { remote_.poll(); }
  base::Status agree_over_nodes(base::Status status, const char* step) noexcept override;

 private:
  std::unique_ptr<node::Node> node_;
  remote::Remote& remote_;
};

}  // namespace gdrkit::shmem_impl::parts
