// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/dmabuf/dmabuf_mapping.hpp"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gdrkit::backend::dmabuf {
namespace {

constexpr std::uint64_t over_pcie = 1;  // CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE
constexpr int invalid_value = 1;

/// The size of BAR1, the largest memory region of the GPU; 0 if unknown.
std::uint64_t bar1_mib(driver::System& system, const driver::CudaCalls& cuda, int ordinal) noexcept {
  char pci[32] = {};
  if (driver::device_pci_bus_id(cuda, ordinal, pci, sizeof pci) != 0) return 0;
  for (char& letter : pci) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  char path[80];
  std::snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/resource", pci);
  char text[1024];
  if (system.read_text(path, text, sizeof text) < 0) return 0;
  std::uint64_t largest = 0;
  // One line per region: first address, last address, flags.
  for (char* at = text; *at != '\0';) {
    const std::uint64_t first = std::strtoull(at, &at, 16);
    const std::uint64_t last = std::strtoull(at, &at, 16);
    if (last > first) largest = std::max(largest, last - first + 1);
    at += std::strcspn(at, "\n");
    at += *at == '\n' ? 1 : 0;
  }
  return largest >> 20;
}

}  // namespace

base::Status DmabufMapping::export_pages(std::uint64_t address, std::uint64_t bytes, bool must_be_pcie) noexcept {
  driver::ObservedExport made;
  const bool has_coherent_link = is_coherent(cuda_, ordinal_);
  std::uint64_t flags = has_coherent_link && !must_be_pcie ? 0 : over_pcie;
  int result = cuda_.export_dmabuf(address, bytes, flags, &made);
  if (result != 0 && flags != 0 && !must_be_pcie) {
    flags = 0;
    result = cuda_.export_dmabuf(address, bytes, flags, &made);
  }
  if (driver::cuda_result_errno(result) == ENOMEM) return bar1_is_full(bytes, driver::cuda_result_name(result));
  if (result != 0) {
    return base::fail_vendor(
        driver::cuda_result_errno(result), result,
        "cannot export 0x%" PRIx64 " + %" PRIu64 " bytes as a dma-buf%s: cuMemGetHandleForAddressRange: %s; %s",
        address, bytes, must_be_pcie ? " for a mapping over PCIe" : "", driver::cuda_result_name(result),
        must_be_pcie ? "pin without GDR_PIN_FLAG_FORCE_PCIE" : "set GDRKIT_BACKEND=rm, which requires no dma-buf");
  }
  fd_ = made.dmabuf_fd;
  if (const int closing = driver::as_user_errno(system_.ioctl(fd_, FIOCLEX, nullptr)); closing < 0) {
    (void)release();
    return base::fail(-closing, "cannot set close-on-exec for a dma-buf: ioctl(FIOCLEX): %s; set GDRKIT_BACKEND=rm",
                      std::strerror(-closing));
  }
  type_ = has_coherent_link && flags == 0 ? cpu::MappingType::cached : cpu::MappingType::write_combining;
  return {};
}

base::Status DmabufMapping::take(const DeviceRange& range, bool must_be_pcie) noexcept {
  ordinal_ = range.attributes.device_ordinal;
  base::Status exported = export_pages(range.page_address, range.page_bytes, must_be_pcie);
  if (exported || exported.error().vendor_code != invalid_value) return exported;
  // Some drivers export memory of a pool only from the start of its block.
  const auto& at = range.attributes;
  const std::uint64_t before = range.page_address - at.mapping_base;
  const bool is_inside =
      at.mapping_base < range.page_address && before < at.mapping_size && range.page_bytes <= at.mapping_size - before;
  if (!is_inside || !export_pages(at.mapping_base, before + range.page_bytes, must_be_pcie)) return exported;
  offset_ = static_cast<off_t>(before);
  return {};
}

base::Status DmabufMapping::bar1_is_full(std::uint64_t bytes, const char* cause) const noexcept {
  return base::fail(ENOMEM,
                    "cannot map %" PRIu64 " KiB through a dma-buf: %s (BAR1 of CUDA device %d has %" PRIu64
                    " MiB); unmap other memory, pin a smaller range or enable resizable BAR",
                    bytes / 1024, cause, ordinal_, bar1_mib(system_, cuda_, ordinal_));
}

base::Status DmabufMapping::map(std::size_t size_bytes) noexcept {
  void* mapped = nullptr;
  const int result = driver::as_user_errno(
      system_.mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset_, &mapped));
  if (result == -ENOMEM) return bar1_is_full(size_bytes, "mmap: out of memory");
  if (result < 0) {
    return base::fail(-result,
                      "cannot map the dma-buf: mmap of %zu bytes: %s; update the driver to CUDA 13.3 or newer, or set "
                      "GDRKIT_BACKEND=rm",
                      size_bytes, std::strerror(-result));
  }
  address_ = static_cast<std::uint8_t*>(mapped);
  size_bytes_ = size_bytes;
  return keep_from_children(system_, mapped, size_bytes);
}

base::Status DmabufMapping::unmap() noexcept {
  if (address_ == nullptr) return {};
  if (const int result = driver::as_user_errno(system_.munmap(address_, size_bytes_)); result < 0)
    return base::fail(-result, "cannot unmap the memory: munmap: %s", std::strerror(-result));
  address_ = nullptr;
  size_bytes_ = 0;
  return {};
}

base::Status DmabufMapping::release() noexcept {
  base::Status first = unmap();
  if (fd_ < 0) return first;
  const int result = driver::as_user_errno(system_.close(fd_));
  fd_ = -1;
  if (result < 0) base::keep_first(first, base::fail(-result, "cannot close a dma-buf: %s", std::strerror(-result)));
  return first;
}

void DmabufMapping::abandon_after_fork() noexcept {
  if (fd_ >= 0) system_.close(fd_);
  fd_ = -1;
  address_ = nullptr;  // not inherited: this process may use the address for another mapping
}

std::uint8_t* DmabufScratch::map(const DeviceRange& range) noexcept {
  failure_ = mapping_.take(range, false);
  if (failure_) failure_ = mapping_.map(static_cast<std::size_t>(range.page_bytes));
  if (!failure_) return nullptr;
  std::uint8_t* const address = mapping_.address();
  if (driver::can_load_from(address) && driver::can_load_from(address + mapping_.size_bytes() - 1)) return address;
  failure_ = base::fail_literal(
      EIO, "cannot use dma-bufs: the driver created a mapping that cannot be read; set GDRKIT_BACKEND=rm");
  return nullptr;
}

bool DmabufScratch::unmap() noexcept {
  (void)mapping_.release();
  if (mapping_.address() != nullptr) (void)mapping_.release();  // munmap may fail once if memory is short
  return mapping_.address() == nullptr;
}

}  // namespace gdrkit::backend::dmabuf
