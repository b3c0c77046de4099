// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// choose(): which copy kernels a mapping's copies go through, decided once when the mapping is made.
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "copy/copier.hpp"

namespace gdrkit::copy {
namespace {

/// The names of the copy kernels that run here, for errors' texts.
class UsableNames {
 public:
  explicit UsableNames(const cpu::Features& features) noexcept {
    for (const KernelInfo& kernel : kernels()) {
      if (!kernel.runs_on(features)) continue;
      if (length_ != 0) append(", ");
      append(kernel.name);
    }
  }
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  void append(std::string_view word) noexcept {
    if (word.size() > sizeof(text_) - 1 - length_) return;
    word.copy(text_ + length_, word.size());
    length_ += word.size();
  }

  char text_[256] = {};
  std::size_t length_ = 0;
};

const KernelInfo* find(std::string_view name) noexcept {
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

/// The forced copy kernel if it has the direction, else the first that runs here and has it. The scalar line ends every
/// list.
const KernelInfo& pick(const cpu::Features& features, const KernelInfo* forced,
                       CopyLines KernelInfo::*direction) noexcept {
  if (forced != nullptr && forced->*direction != nullptr) return *forced;
  const KernelList list = kernels();
  const KernelInfo* picked = list.begin();
  while (picked != list.end() - 1 && !(picked->runs_on(features) && picked->*direction != nullptr)) ++picked;
  return *picked;
}

}  // namespace

base::Result<Copier> choose(const cpu::Features& features, MappingType type, const char* forced) noexcept {
  const KernelInfo* forced_kernel = nullptr;
  if (forced != nullptr && *forced != '\0') {
    forced_kernel = find(forced);
    if (forced_kernel == nullptr) {
      return base::fail(EINVAL,
                        "unknown copy kernel '%s' (option copy_kernel, or GDRKIT_COPY_KERNEL); usable on this CPU: %s",
                        forced, UsableNames(features).text());
    }
    if (!forced_kernel->runs_on(features)) {
      return base::fail(EOPNOTSUPP, "copy kernel '%s' does not run on this CPU or not on this memory; usable here: %s",
                        forced, UsableNames(features).text());
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
      copier.load_piece = loads.load_piece;
      copier.widest_load_bytes = loads.widest_load_bytes;
      copier.store_name = stores.name;
      copier.load_name = loads.name;
      return copier;
    }
    case MappingType::cached: copier.store_name = copier.load_name = "memcpy"; return copier;
    case MappingType::device: copier.store_name = copier.load_name = "words"; return copier;
    case MappingType::none: break;
  }
  return base::fail(EINVAL, "cannot copy through mapping type %u", static_cast<unsigned>(type));
}

}  // namespace gdrkit::copy
