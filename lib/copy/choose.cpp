// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// choose(): selects the copy kernels of a mapping, once, when the mapping is created.
#include <cerrno>
#include <new>
#include <string>
#include <string_view>

#include "copy/copier.hpp"

namespace gdrkit::copy {
namespace {

/// The names of the copy kernels that this CPU runs, for error messages.
std::string usable_names(const cpu::Features& features) {
  std::string names;
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.runs_on(features)) names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  }
  return names;
}

const KernelInfo* find(std::string_view name) noexcept {
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

/// The forced copy kernel if it supports the direction, else the first in the list that runs on this CPU and supports
/// the direction. "scalar", the last in every list, runs on every CPU and supports both directions.
const KernelInfo& pick(const cpu::Features& features, const KernelInfo* forced,
                       CopyLines KernelInfo::*direction) noexcept {
  if (forced != nullptr && forced->*direction != nullptr) return *forced;
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.runs_on(features) && kernel.*direction != nullptr) return kernel;
  }
  return kernels().back();
}

}  // namespace

base::Result<Copier> choose(const cpu::Features& features, MappingType type, const char* forced) noexcept try {
  const KernelInfo* forced_kernel = nullptr;
  if (forced != nullptr && *forced != '\0') {
    forced_kernel = find(forced);
    if (forced_kernel == nullptr) {
      return base::fail(EINVAL,
                        "unknown copy kernel '%s'; set option copy_kernel or variable GDRKIT_COPY_KERNEL to one of: %s",
                        forced, usable_names(features).c_str());
    }
    if (!forced_kernel->runs_on(features)) {
      return base::fail(EOPNOTSUPP, "cannot use copy kernel '%s': this CPU does not support the kernel; use one of: %s",
                        forced, usable_names(features).c_str());
    }
  }
  Copier copier;
  copier.type = type;
  switch (type) {
    case MappingType::write_combining: {
      const KernelInfo& stores = pick(features, forced_kernel, &KernelInfo::store_lines);
      const KernelInfo& loads = pick(features, forced_kernel, &KernelInfo::load_lines);
      copier.store_lines = stores.store_lines;
      copier.load_lines = loads.load_lines;
      copier.streaming_loads = loads.streaming_loads;
      copier.widest_load_bytes = loads.widest_load_bytes;
      copier.store_name = stores.name;
      copier.load_name = loads.name;
      return copier;
    }
    case MappingType::cached: copier.store_name = copier.load_name = "memcpy"; return copier;
    case MappingType::device: copier.store_name = copier.load_name = "words"; return copier;
    case MappingType::none: break;
  }
  return base::fail(EINVAL, "cannot copy through the mapping: invalid mapping type %u", static_cast<unsigned>(type));
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "cannot choose a copy kernel: out of memory");
}

}  // namespace gdrkit::copy
