// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/export_encoder.hpp"

#include <sys/ioctl.h>

#include <algorithm>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {

std::vector<driver::ObservedIoctl> encode_export(const DriverModel& model, Handle client, std::uint64_t total_bytes,
                                                 const std::vector<CudaMemoryMap::ExportPiece>& pieces,
                                                 std::uint64_t flags, const ExportResult& result) {
  constexpr std::size_t objects_at_once = 128;
  const bool has_mapping_type = model.export_bytes == 2608;
  const std::size_t handles = has_mapping_type ? 36 : 32;
  const std::size_t offsets = has_mapping_type ? 552 : 544;
  const std::size_t sizes = offsets + objects_at_once * 8;
  std::vector<driver::ObservedIoctl> calls;
  for (std::size_t index = 0; index < pieces.size(); index += objects_at_once) {
    const std::size_t count = std::min(objects_at_once, pieces.size() - index);
    driver::ObservedIoctl call;
    call.argument.resize(model.export_bytes + model.extra_bytes);
    call.request = _IOC(_IOC_READ | _IOC_WRITE, 'F', command::export_dmabuf, call.argument.size());
    void* bytes = call.argument.data();
    put(bytes, 0, std::int32_t{result.fd});
    put(bytes, 4, client);
    put(bytes, 8, static_cast<std::uint32_t>(pieces.size()));
    put(bytes, 12, static_cast<std::uint32_t>(count));
    put(bytes, 16, static_cast<std::uint32_t>(index));
    put(bytes, 24, total_bytes);
    if (has_mapping_type) put(bytes, 32, static_cast<std::uint8_t>(flags));
    for (std::size_t i = 0; i < count; ++i) {
      const auto& piece = pieces[index + i];
      put(bytes, handles + 4 * i, piece.object);
      put(bytes, offsets + 8 * i, piece.offset);
      put(bytes, sizes + 8 * i, piece.size_bytes);
    }
    put(bytes, sizes + objects_at_once * 8, result.status);
    calls.push_back(std::move(call));
    if (result.status != rm_status::ok) break;
  }
  return calls;
}

}  // namespace gdrkit::fakes
