// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstring>
#include <new>
#include <optional>

#include "shmem/bootstrap/exchange.hpp"
#include "shmem/bootstrap/star_exchange.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

/// Precedes each part, to detect a different call of another PE.
struct PartHead {
  std::uint64_t size_bytes = 0;
  std::int32_t pe = 0;
  char step[44] = {};
};
static_assert(sizeof(PartHead) == 56);

class CallbackExchange final : public Exchange {
 public:
  CallbackExchange(AllgatherFunction function, void* argument, int pe, int n_pes)
      : function_(function), argument_(argument), pe_(pe), n_pes_(n_pes) {}

  int pe() const noexcept override { return pe_; }
  int n_pes() const noexcept override { return n_pes_; }

  base::Status allgather(const void* mine, std::size_t size_bytes, void* all, const char* step) noexcept override {
    if (broken_) return tl::unexpected<base::Error>(*broken_);
    try {
      return gather_parts(mine, size_bytes, all, step);
    } catch (const std::bad_alloc&) {
      return broken(base::fail_literal(ENOMEM, "out of memory while exchanging data with the other PEs"));
    }
  }

 private:
  base::Status broken(tl::unexpected<base::Error> error) {
    broken_ = error.value();
    return error;
  }

  base::Status gather_parts(const void* mine, std::size_t size_bytes, void* all, const char* step) {
    PartHead own;
    own.size_bytes = size_bytes;
    own.pe = pe_;
    std::strncpy(own.step, step, sizeof own.step - 1);
    const std::size_t one = sizeof own + size_bytes;
    std::vector<char> out(one);
    std::vector<char> in(one * static_cast<std::size_t>(n_pes_));
    std::memcpy(out.data(), &own, sizeof own);
    if (size_bytes > 0) std::memcpy(out.data() + sizeof own, mine, size_bytes);
    if (const int result = function_(out.data(), one, in.data(), argument_); result != 0) {
      return broken(base::fail(EIO,
                               "cannot exchange data with the other PEs during '%s': the application's all-gather "
                               "function returned %d instead of 0",
                               step, result));
    }
    for (int i = 0; i < n_pes_; ++i) {
      PartHead head;
      const char* const part = in.data() + static_cast<std::size_t>(i) * one;
      std::memcpy(&head, part, sizeof head);
      head.step[sizeof head.step - 1] = '\0';
      if (head.pe != i) {
        return broken(base::fail(EPROTO,
                                 "cannot exchange data with the other PEs during '%s': the application's all-gather "
                                 "function did not store the data of PE %d at index %d; order the data by PE number",
                                 step, i, i));
      }
      if (head.size_bytes != size_bytes || std::strcmp(head.step, own.step) != 0) {
        return broken(
            base::fail(EPROTO,
                       "the PEs make different calls: PE %d exchanges %llu bytes for '%s', but PE %d exchanges "
                       "%zu bytes for '%s'; make the same calls in the same order on all PEs",
                       i, static_cast<unsigned long long>(head.size_bytes), head.step, pe_, size_bytes, own.step));
      }
    }
    for (int i = 0; size_bytes > 0 && i < n_pes_; ++i) {
      const auto index = static_cast<std::size_t>(i);
      std::memcpy(static_cast<char*>(all) + index * size_bytes, in.data() + index * one + sizeof own, size_bytes);
    }
    return {};
  }

  AllgatherFunction function_;
  void* argument_;
  int pe_;
  int n_pes_;
  std::optional<base::Error> broken_;
};

}  // namespace

base::Result<std::unique_ptr<Exchange>> exchange_by_callback(AllgatherFunction function, void* argument, int pe,
                                                             int n_pes) noexcept try {
  if (auto fits = check_pe(pe, n_pes); !fits) return base::pass(fits);
  if (function == nullptr)
    return base::fail_literal(
        EINVAL, "cannot join the job: the all-gather function is NULL; set allgather or unique_id in the options");
  return std::make_unique<CallbackExchange>(function, argument, pe, n_pes);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while joining the job");
}

}  // namespace gdrkit::shmem_impl::bootstrap
