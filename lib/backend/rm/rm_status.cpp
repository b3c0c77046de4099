// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_status.hpp"

#include <cerrno>

namespace gdrkit::backend::rm {
namespace {

struct Row {
  std::uint32_t status;
  int errno_value;
  const char* name;
};

constexpr Row rows[] = {
    {0x00, 0, "OK"},
    {0x0f, ENODEV, "GPU_IS_LOST"},
    {0x10, ENODEV, "GPU_IN_FULLCHIP_RESET"},
    {0x12, ENODEV, "GPU_UUID_NOT_FOUND"},
    {0x17, EBUSY, "IN_USE"},
    {0x19, EIO, "INSERT_DUPLICATE_NAME"},
    {0x1a, ENOMEM, "INSUFFICIENT_RESOURCES"},
    {0x1b, EACCES, "INSUFFICIENT_PERMISSIONS"},
    {0x1d, EACCES, "INVALID_ACCESS_TYPE"},
    {0x1f, EINVAL, "INVALID_ARGUMENT"},
    {0x20, EINVAL, "INVALID_BASE"},
    {0x22, EOPNOTSUPP, "INVALID_CLASS"},
    {0x23, EINVAL, "INVALID_CLIENT"},
    {0x24, EOPNOTSUPP, "INVALID_COMMAND"},
    {0x26, EINVAL, "INVALID_DEVICE"},
    {0x2e, EINVAL, "INVALID_LIMIT"},
    {0x33, EINVAL, "INVALID_OBJECT_HANDLE"},
    {0x36, EINVAL, "INVALID_OBJECT_PARENT"},
    {0x37, EINVAL, "INVALID_OFFSET"},
    {0x3a, EIO, "INVALID_PARAM_STRUCT"},
    {0x3b, EINVAL, "INVALID_PARAMETER"},
    {0x40, EIO, "INVALID_STATE"},
    {0x51, ENOMEM, "NO_MEMORY"},
    {0x55, EAGAIN, "NOT_READY"},
    {0x56, EOPNOTSUPP, "NOT_SUPPORTED"},
    {0x57, EINVAL, "OBJECT_NOT_FOUND"},
    {0x59, EIO, "OPERATING_SYSTEM"},
    {0x63, EBUSY, "STATE_IN_USE"},
    {0x6a, EIO, "VERSION_MISMATCH"},
};

const Row* find(std::uint32_t status) noexcept {
  for (const Row& row : rows) {
    if (row.status == status) return &row;
  }
  return nullptr;
}

}  // namespace

const char* status_name(std::uint32_t status) noexcept {
  const Row* row = find(status);
  return row != nullptr ? row->name : "unknown status";
}

int status_errno(std::uint32_t status) noexcept {
  const Row* row = find(status);
  return row != nullptr ? row->errno_value : EIO;
}

}  // namespace gdrkit::backend::rm
