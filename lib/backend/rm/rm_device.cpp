// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_device.hpp"

#include <cstdio>
#include <cstring>
#include <new>

namespace gdrkit::backend::rm {

base::Result<std::unique_ptr<RmDevice>> RmDevice::open(RmClient& client, KeptMappings& kept, driver::System& system,
                                                       const char* pci_bus_id, const driver::CudaUuid& uuid) noexcept {
  std::unique_ptr<RmDevice> device(new (std::nothrow) RmDevice(client, kept, system));
  if (device == nullptr) return base::fail(ENOMEM, "out of memory while opening a GPU");
  if (auto found = device->find_card(pci_bus_id); !found) return base::pass(found);
  auto node = client.open_device_file(device->minor_);
  if (!node) return base::pass(node);
  device->node_fd_ = *node;
  if (auto allocated = device->allocate_objects(); !allocated) return base::pass(allocated);
  if (auto checked = device->check_uuid(uuid); !checked) return base::pass(checked);
  device->is_open_ = true;
  return device;
}

RmDevice::~RmDevice() {
  if (node_fd_ < 0 || (is_open_ && client_.is_kept())) return;
  if (client_.has_objects()) {
    if (subdevice_ != 0) (void)client_.free(device_, subdevice_);
    if (device_ != 0) (void)client_.free(client_.root(), device_);
  }
  system_.close(node_fd_);
}

base::Status RmDevice::find_card(const char* pci_bus_id) noexcept {
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(pci_bus_id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    return base::fail(EIO, "cannot find the GPU: CUDA returned the invalid PCI address \"%s\"", pci_bus_id);
  }
  CardInfo cards[max_cards];
  if (auto read = client_.read_cards(cards); !read) return read;
  for (const CardInfo& card : cards) {
    if (card.valid == 0 || card.domain != domain || card.bus != bus || card.slot != slot) continue;
    gpu_id_ = card.gpu_id;
    minor_ = card.minor;
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", domain, bus, slot);
    pci_ = text;
    return {};
  }
  return base::fail(
      ENODEV,
      "cannot find the GPU at %s: CUDA reports this PCI address, but the driver does not; compare the address "
      "with the output of nvidia-smi",
      pci_bus_id);
}

base::Status RmDevice::allocate_objects() noexcept {
  GpuIdInfo info{};
  info.gpu_id = gpu_id_;
  if (auto read = client_.control(client_.root(), control::gpu_get_id_info_v2, &info, sizeof info); !read) return read;
  DeviceParameters device{};
  device.device_id = info.device_instance;
  auto allocated = client_.allocate(client_.root(), object_class::device, &device);
  if (!allocated) return base::pass(allocated);
  device_ = *allocated;
  SubdeviceParameters subdevice{info.subdevice_instance};
  allocated = client_.allocate(device_, object_class::subdevice, &subdevice);
  if (!allocated) return base::pass(allocated);
  subdevice_ = *allocated;
  return {};
}

base::Status RmDevice::check_uuid(const driver::CudaUuid& uuid) noexcept {
  GidInfo gid{};
  gid.flags = gid_binary;
  if (auto read = client_.control(subdevice_, control::gpu_get_gid_info, &gid, sizeof gid); !read) return read;
  if (gid.length >= uuid.size() && std::memcmp(gid.data, uuid.data(), uuid.size()) == 0) return {};
  return base::fail(
      EOPNOTSUPP,
      "cannot use the GPU at %s with backend 'rm': CUDA uses a MIG instance of the GPU; disable MIG, load the "
      "gdrdrv kernel module, or set GDRKIT_BACKEND=dmabuf",
      pci_.c_str());
}

std::optional<Bar1Figures> RmDevice::bar1(std::uint32_t fb_info_bytes) const noexcept {
  constexpr std::size_t largest = 1028;
  alignas(8) std::uint8_t parameters[largest] = {};
  if (fb_info_bytes > largest) return std::nullopt;
  const std::uint32_t count = 3;
  InfoEntry entries[count] = {{fb_bar1_size_kib, 0}, {fb_bar1_available_kib, 0}, {fb_bar1_contiguous_kib, 0}};
  std::memcpy(parameters, &count, sizeof count);
  std::memcpy(parameters + sizeof count, entries, sizeof entries);
  if (!client_.control(subdevice_, control::fb_get_info_v2, parameters, fb_info_bytes)) return std::nullopt;
  std::memcpy(entries, parameters + sizeof count, sizeof entries);
  return Bar1Figures{entries[0].data / 1024, entries[1].data / 1024, entries[2].data / 1024};
}

void RmDevice::abandon_after_fork() noexcept {
  if (node_fd_ >= 0) system_.close(node_fd_);
  node_fd_ = -1;
}

}  // namespace gdrkit::backend::rm
