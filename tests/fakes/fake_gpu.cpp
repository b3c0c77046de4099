// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/fake_gpu.hpp"

#include <cstdio>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {

std::array<std::uint8_t, 72> FakeGpu::card() const {
  if (recorded_card[0] != 0) return recorded_card;
  std::array<std::uint8_t, 72> bytes{};
  bytes[0] = 1;
  put(bytes.data(), 4, domain);
  put(bytes.data(), 8, bus);
  put(bytes.data(), 9, slot);
  put(bytes.data(), 12, std::uint16_t{0x10de});
  put(bytes.data(), 14, std::uint16_t{0x2335});
  put(bytes.data(), 16, gpu_id);
  put(bytes.data(), 20, std::uint16_t{41});
  put(bytes.data(), 24, std::uint64_t{0xe0000000});
  put(bytes.data(), 32, std::uint64_t{16 * mib});
  put(bytes.data(), 40, bar1_address);
  put(bytes.data(), 48, bar1_bytes);
  put(bytes.data(), 56, minor);
  return bytes;
}

std::array<std::uint8_t, 32> FakeGpu::id_info() const {
  if (get<std::uint32_t>(recorded_id_info.data(), 0) != 0) return recorded_id_info;
  std::array<std::uint8_t, 32> bytes{};
  put(bytes.data(), 0, gpu_id);
  put(bytes.data(), 8, device_instance);
  put(bytes.data(), 28, std::int32_t{-1});
  return bytes;
}

std::string FakeGpu::pci() const {
  char text[24];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", domain, bus, slot);
  return text;
}

std::string FakeGpu::resource_file() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "0x00000000de000000 0x00000000deffffff 0x0000000000040200\n0x%016llx 0x%016llx 0x000000000014220c\n"
                "0x0000000000000000 0x0000000000000000 0x0000000000000000\n",
                static_cast<unsigned long long>(bar1_address),
                static_cast<unsigned long long>(bar1_address + bar1_bytes - 1));
  return text;
}

std::string FakeGpu::node() const { return "/dev/nvidia" + std::to_string(minor); }

FakeGpu make_gpu(unsigned index) {
  FakeGpu gpu;
  gpu.bus = static_cast<std::uint8_t>(0x3b + 0x10 * index);
  // Minor, instance and CUDA ordinal have different orders on purpose.
  gpu.minor = 3 - index;
  gpu.gpu_id = std::uint32_t{gpu.bus} << 8;
  gpu.device_instance = 5 + index;
  gpu.bar1_address += index * gpu.bar1_bytes;
  for (std::size_t i = 0; i < gpu.uuid.size(); ++i) gpu.uuid[i] = static_cast<std::uint8_t>(0x50 + 0x11 * index + i);
  gpu.cuda_uuid = gpu.uuid;
  return gpu;
}

FakeGpu recorded_gpu(const std::array<std::uint8_t, 72>& card, const std::array<std::uint8_t, 32>& id_info,
                     const std::array<std::uint8_t, 16>& uuid) {
  FakeGpu gpu;
  gpu.domain = get<std::uint32_t>(card.data(), 4);
  gpu.bus = card[8];
  gpu.slot = card[9];
  gpu.gpu_id = get<std::uint32_t>(card.data(), 16);
  gpu.bar1_address = get<std::uint64_t>(card.data(), 40);
  gpu.bar1_bytes = get<std::uint64_t>(card.data(), 48);
  gpu.minor = get<std::uint32_t>(card.data(), 56);
  gpu.device_instance = get<std::uint32_t>(id_info.data(), 8);
  gpu.uuid = uuid;
  gpu.cuda_uuid = uuid;
  gpu.recorded_card = card;
  gpu.recorded_id_info = id_info;
  return gpu;
}

}  // namespace gdrkit::fakes
