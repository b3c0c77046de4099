// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/banner.hpp"

#include <cinttypes>
#include <cstdio>

#include "gdrkit/gdrkit.h"
#include "platform/facts/nvidia.hpp"

namespace gdrkit::cli {
namespace {

void print_gpu(int ordinal, const char* name, unsigned domain, unsigned bus, unsigned device) {
  std::printf("GPU id:%d; name: %s; Bus id: %04x:%02x:%02x\n", ordinal, name, domain, bus, device);
}

void print_device(const platform::DeviceIdentity& identity) {
  print_gpu(identity.ordinal, identity.name, identity.pci_domain, identity.pci_bus, identity.pci_device);
}

/// An emulated device that is not selected.
void print_other_emulated(int ordinal) {
  if (const auto device = platform::open_emulated_device(ordinal)) print_device((*device)->identity());
}

/// A GPU that is not selected. Its name comes from /proc, because a CUDA context would cost memory and time.
void print_other(int ordinal) {
  const auto text = platform::cuda_pci_bus_id(ordinal);
  if (!text.has_value()) return;
  const auto address = platform::parse_pci_address(*text);
  if (!address.has_value()) return;
  const std::string name = platform::nvidia_gpu_name("/proc", *address);
  print_gpu(ordinal, name.c_str(), address->domain, address->bus, address->device);
}

}  // namespace

void print_banner(const platform::Device& selected) {
  const platform::DeviceIdentity& identity = selected.identity();
  const bool is_emulated = selected.is_emulated();
  const auto count = is_emulated ? platform::emulated_device_count() : platform::cuda_device_count();
  for (int ordinal = 0; ordinal < count.value_or(1); ++ordinal) {
    if (ordinal == identity.ordinal) {
      print_device(identity);
    } else if (is_emulated) {
      print_other_emulated(ordinal);
    } else {
      print_other(ordinal);
    }
  }
  std::printf("selecting device %d\n", identity.ordinal);
}

void print_info_lines(const gdr_info_t& info) {
  std::printf("info.va: %" PRIx64 "\n", info.va);
  std::printf("info.mapped_size: %" PRIu64 "\n", info.mapped_size);
  std::printf("info.page_size: %" PRIu32 "\n", info.page_size);
  std::printf("info.mapped: %u\n", unsigned{info.mapped});
  std::printf("info.wc_mapping: %u\n", unsigned{info.wc_mapping});
}

BackendNames backend_names() {
  BackendNames names;
  gdrkit_context_t context{};
  if (gdrkit_open(nullptr, &context) != 0) return names;
  gdrkit_context_info info{};
  info.struct_size = sizeof(info);
  if (gdrkit_get_context_info(context, &info) == 0) {
    names = {info.backend_name, info.store_kernel_name, info.load_kernel_name};
  }
  (void)gdrkit_close(context);
  return names;
}

}  // namespace gdrkit::cli
