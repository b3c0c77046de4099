// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/memory.hpp"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/number.hpp"
#include "cli/interface/demand.hpp"
#include "cli/interface/exit_code.hpp"
#include "cli/interface/size.hpp"
#include "platform/device/dmabuf.hpp"

namespace gdrkit::transfer::perftest {
namespace {

using namespace platform;

constexpr std::size_t page_bytes = 4096;
/// The driver makes smaller allocations from parts of a block of this size. A dma-buf cannot start within a block.
constexpr std::size_t least_gpu_bytes = 2UL << 20;
constexpr std::size_t gpu_page_bytes = 65536;
constexpr std::size_t datagram_header_bytes = 40;

constexpr int all_access = platform::verbs_access_local_write | verbs_access_remote_write | verbs_access_remote_read |
                           verbs_access_remote_atomic;

std::size_t rounded_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

void require_gdrkit(int code, const char* what) {
  if (code >= 0) return;
  cli::fail(std::string("gdrkit perftest: ") + what + ": " + gdrkit_last_error());
}

/// CUDA's number of the GPU in the options.
int gpu_of(const Plan& plan, const cli::DeviceChoice& choice) {
  int ordinal = 0;
  const std::string& text = plan.cuda_device;
  if (!text.empty() && (!base::parse_number(text, &ordinal) || ordinal < 0)) {
    cli::reject("gdrkit perftest: --use_cuda: '" + cli::printable(text) +
                "' is not the number of a GPU; use 0, 1, ...");
  }
  if (!text.empty()) return ordinal;
  const std::string& requested = plan.options->cuda_bus_id;
  const auto count = choice.is_emulated ? platform::emulated_device_count() : platform::cuda_device_count();
  for (int i = 0; count && i < *count; ++i) {
    const std::string address =
        choice.is_emulated ? cli::open_device(choice, i)->identity().pci_bus_id : cuda_pci_bus_id(i).value_or("");
    if (::strcasecmp(address.c_str(), requested.c_str()) == 0 ||
        ::strcasecmp(address.c_str(), ("0000:" + requested).c_str()) == 0)
      return i;
  }
  cli::cannot_run("gdrkit perftest: found no GPU at " + cli::printable(requested) +
                  "; nvidia-smi lists the PCI addresses");
}

}  // namespace

Registration register_gpu_memory(const Verbs& verbs, platform::VerbsDomain* domain, const GpuRange& range, int access,
                                 const DmabufExporter& exporter, bool needs_dmabuf) {
  std::string why;
  if (verbs.control->reg_dmabuf_mr == nullptr) {
    why = "libibverbs is older than rdma-core 34";
  } else if (const auto exported = exporter(range); !exported) {
    why = exported.error().text();
  } else {
    errno = 0;
    Held<platform::VerbsRegion> region(
        verbs.control->reg_dmabuf_mr(domain, 0, range.size_bytes, range.address, *exported, access),
        {verbs.control->dereg_mr});
    const int error = errno;
    ::close(*exported);  // the region keeps its own reference
    if (region != nullptr) return {std::move(region), "dma-buf"};
    why = std::string("ibv_reg_dmabuf_mr: ") + std::strerror(error);
  }
  if (needs_dmabuf) {
    cli::fail("gdrkit perftest: cannot register GPU memory by dma-buf: " + why +
              "; omit --use_cuda_dmabuf to use peer memory instead");
  }
  errno = 0;
  Held<platform::VerbsRegion> region(
      verbs.data->reg_mr(domain, reinterpret_cast<void*>(range.address), range.size_bytes, access & all_access),
      {verbs.control->dereg_mr});
  if (region != nullptr) return {std::move(region), "peer memory (no dma-buf: " + why + ")"};
  cli::fail(
      cli::format("gdrkit perftest: cannot register %s of GPU memory by dma-buf (%s) or by peer memory (ibv_reg_mr: "
                  "%s); load nvidia-peermem, or run gdrkit doctor",
                  cli::size_text(range.size_bytes).c_str(), why.c_str(), std::strerror(errno)));
}

Memory::Memory(const Endpoint& endpoint, const Plan& plan)
    : pairs_(plan.options->pairs),
      slot_bytes_(rounded_up(plan.sizes.back() + datagram_header_bytes + 1, page_bytes)),
      size_bytes_(slot_bytes_ * 2 * static_cast<std::size_t>(plan.options->pairs)),
      host_(nullptr, std::free) {
  plan.uses_gpu() ? allocate_gpu(plan) : allocate_host();
  register_with(endpoint, plan);
  // Maps GPU memory only if this end polls it.
  if (device_ != nullptr && plan.polls_memory()) map_gpu();
}

Memory::~Memory() {
  region_.reset();
  if (context_.value != 0) (void)gdrkit_close(context_);
}

void Memory::allocate_host() {
  host_.reset(std::aligned_alloc(page_bytes, size_bytes_));
  if (host_ == nullptr) {
    cli::fail("gdrkit perftest: cannot allocate " + cli::size_text(size_bytes_) +
              " of host memory; use a smaller -s or -q");
  }
  std::memset(host_.get(), 0, size_bytes_);
  view_ = static_cast<volatile std::uint8_t*>(host_.get());
  address_ = reinterpret_cast<std::uint64_t>(host_.get());
  how_ = "host memory";
}

void Memory::allocate_gpu(const Plan& plan) {
  choice_ = cli::choose_device(cli::find_gpus());
  device_ = cli::open_device(choice_, gpu_of(plan, choice_));
  size_bytes_ = std::max(rounded_up(size_bytes_, gpu_page_bytes), least_gpu_bytes);
  auto allocated = device_->allocate(platform::AllocationKind::cuda_malloc, size_bytes_);
  if (!allocated) {
    cli::fail("gdrkit perftest: cannot allocate " + cli::size_text(size_bytes_) + " on GPU " +
              device_->identity().pci_bus_id + ": " + allocated.error().text() + "; use a smaller -s or -q");
  }
  allocation_ = std::move(*allocated);
  address_ = allocation_.address();
  cli::demand(device_->set_sync_memops(address_), "gdrkit perftest: cannot prepare GPU memory: ");
  cli::demand(device_->fill(address_, 0, size_bytes_), "gdrkit perftest: cannot fill GPU memory with zeros: ");
}

void Memory::map_gpu() {
  require_gdrkit(gdrkit_open(nullptr, &context_), "gdrkit_open");
  require_gdrkit(gdrkit_pin(context_, address_, size_bytes_, &pin_), "gdrkit_pin");
  void* mapped = nullptr;
  require_gdrkit(gdrkit_map(pin_, nullptr, &mapped), "gdrkit_map");
  view_ = static_cast<volatile std::uint8_t*>(mapped);
  gdrkit_context_info info{};
  info.struct_size = sizeof info;
  require_gdrkit(gdrkit_get_context_info(context_, &info), "gdrkit_get_context_info");
  how_ += std::string(", polled by the CPU through ") + info.backend_name;
}

void Memory::register_with(const Endpoint& endpoint, const Plan& plan) {
  const Verbs& verbs = endpoint.verbs();
  // A ping-pong requires the bytes of a message to arrive in order.
  const bool may_reorder = !plan.test->is_ping_pong() && verbs.data->reg_mr_iova2 != nullptr;
  const int access = all_access | (may_reorder ? verbs_access_relaxed_ordering : 0);
  if (device_ != nullptr) {
    const auto exporter = [this](const GpuRange& range) {
      return export_dmabuf(*device_, range.address, range.size_bytes);
    };
    Registration made = register_gpu_memory(verbs, endpoint.domain(), {address_, size_bytes_}, access, exporter,
                                            plan.options->needs_dmabuf);
    region_ = std::move(made.region);
    how_ = cli::format("memory of GPU %s, registered by %s", device_->identity().pci_bus_id, made.how.c_str());
    return;
  }
  errno = 0;
  region_ = {may_reorder ? verbs.data->reg_mr_iova2(endpoint.domain(), host_.get(), size_bytes_, address_,
                                                    static_cast<unsigned>(access))
                         : verbs.data->reg_mr(endpoint.domain(), host_.get(), size_bytes_, access),
             {verbs.control->dereg_mr}};
  if (region_ == nullptr) {
    fail_call("cannot register " + cli::size_text(size_bytes_) + " of host memory (ibv_reg_mr) on " + endpoint.device(),
              errno, "raise the limit of locked memory (ulimit -l)");
  }
}

void Memory::write(std::uint64_t address, const void* bytes, std::size_t size_bytes) {
  if (device_ != nullptr) {
    cli::demand(device_->copy_to_device(address, bytes, size_bytes), "gdrkit perftest: cannot copy to the GPU: ");
  } else {
    std::memcpy(reinterpret_cast<void*>(address), bytes, size_bytes);
  }
}

void Memory::read(void* bytes, std::uint64_t address, std::size_t size_bytes) {
  if (device_ != nullptr) {
    cli::demand(device_->copy_to_host(bytes, address, size_bytes), "gdrkit perftest: cannot copy from the GPU: ");
  } else {
    // The adapter has written it: pairs with the completion or the polled byte.
    std::atomic_thread_fence(std::memory_order_acquire);
    std::memcpy(bytes, reinterpret_cast<const void*>(address), size_bytes);
  }
}

void Memory::mark(std::uint64_t address, std::uint8_t value) {
  if (device_ != nullptr) {
    require_gdrkit(gdrkit_write(pin_, address - address_, &value, sizeof value), "gdrkit_write");
  } else {
    // The fence before the doorbell, in libibverbs, orders the store before the adapter's read.
    view_[address - address_] = value;
  }
}

}  // namespace gdrkit::transfer::perftest
