// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/mover/command_lines.hpp"

#include <new>
#include <utility>

#include "cpu/features.hpp"
#include "cpu/ordering.hpp"

namespace gdrkit::engine::mover {
namespace {

constexpr std::size_t buffer_bytes = 65536;  // a GPU's page
constexpr Line empty_lines[ring_lines] = {};

}  // namespace

base::Result<std::unique_ptr<CommandLines>> CommandLines::make(backend::Backend& backend, int device) noexcept {
  std::unique_ptr<CommandLines> lines(new (std::nothrow) CommandLines);
  if (lines == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engine 'mover'");
  if (base::Status mapped = lines->map(backend, device); !mapped) return base::pass(mapped);
  return lines;
}

base::Status CommandLines::map(backend::Backend& backend, int device) noexcept {
  auto allocated = backend.allocate(device, buffer_bytes);
  if (!allocated) return base::pass(allocated);
  buffer_ = std::move(*allocated);
  if (base::Status cleared = buffer_->copy_from_host(0, empty_lines, sizeof empty_lines); !cleared) return cleared;
  backend::PinRequest request;
  request.address = buffer_->address();
  request.size_bytes = sizeof empty_lines;
  auto pinned = backend.pin(request);
  if (!pinned) return base::pass(pinned);
  pin_ = std::move(*pinned);
  const std::size_t offset = buffer_->address() - pin_->page_address();
  const auto region = pin_->map(offset + sizeof empty_lines, backend::MappingType::none);
  if (!region) return base::pass(region);
  const auto copier = copy::choose(cpu::detect(), region->type, nullptr);
  if (!copier) return base::pass(copier);
  copier_ = *copier;
  lines_ = reinterpret_cast<Line*>(static_cast<char*>(region->address) + offset);
  return {};
}

void CommandLines::write(std::uint32_t tag, const Command& command) noexcept {
  const Line line = encode(tag, command);
  cpu::flush_write_combining();
  copier_.to_device(lines_ + tag % ring_lines, &line, sizeof line);
}

}  // namespace gdrkit::engine::mover
