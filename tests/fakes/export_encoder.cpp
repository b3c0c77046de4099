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
  const ExportLayout layout = export_layout(model.export_bytes).value();
  std::vector<driver::ObservedIoctl> calls;
  for (std::size_t index = 0; index < pieces.size(); index += layout.most_objects) {
    const std::size_t count = std::min(layout.most_objects, pieces.size() - index);
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
    if (layout.has_mapping_type) put(bytes, 32, static_cast<std::uint8_t>(flags));
    for (std::size_t i = 0; i < count; ++i) {
      const auto& piece = pieces[index + i];
      put(bytes, layout.handles + 4 * i, piece.object);
      put(bytes, layout.offsets + 8 * i, piece.offset);
      put(bytes, layout.sizes + 8 * i, piece.size_bytes);
    }
    put(bytes, layout.status, result.status);
    calls.push_back(std::move(call));
    if (result.status != rm_status::ok) break;
  }
  return calls;
}

}  // namespace gdrkit::fakes
