// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Path: how the copies of one mapping go through engines; Engines makes them, for one context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "copy/copier.hpp"
#include "engine/device_engines.hpp"

namespace gdrkit::engine {

using driver::CudaCalls;

/// The user's own part of a mapping.
struct Span {
  std::uint64_t address = 0;  ///< as the device counts
  char* mapped = nullptr;     ///< the same byte through the mapping
  std::size_t size_bytes = 0;
  copy::Copier copier;
};

/// Thread safe. The device memory must stay allocated while copies go on.
class Path {
 public:
  Path(DeviceEngines& engines, const Span& span, std::optional<Id> forced, std::uint64_t buffer_id) noexcept
      : engines_(engines), span_(span), forced_(forced), buffer_id_(buffer_id) {}

  [[nodiscard]] std::size_t size_bytes() const noexcept { return span_.size_bytes; }
  /// Up to this size the CPU performs the copy, for every kind of memory.
  [[nodiscard]] std::size_t largest_for_cpu(Direction direction) const noexcept {
    return forced_ ? 0 : engines_.table().largest_for_cpu(direction);
  }
  /// [offset, offset + size_bytes) lies inside the span; size_bytes is not 0. `host` is only read where direction is
  /// to_device.
  base::Status copy(Direction direction, std::size_t offset, void* host, std::size_t size_bytes) noexcept;

  /// Part of a copy that was started: moved already, or under way until finish().
  struct Part {
    Copy copy;
    std::optional<DeviceEngines::Started> started;
    base::Status outcome;
  };
  /// The memory on both sides stays as it is until finish(), once for each part, has returned: a part that its engine
  /// lost is repeated there.
  [[nodiscard]] Part start(Direction direction, std::size_t offset, void* host, std::size_t size_bytes) noexcept;
  [[nodiscard]] bool is_done(const Part& part) const noexcept {
    return !part.started || engines_.is_done(*part.started);
  }
  base::Status finish(Part& part) noexcept;

 private:
  /// What an engine is to do; nothing where the CPU moved the bytes already.
  base::Result<std::optional<Copy>> prepare(Direction direction, std::size_t offset, void* host,
                                            std::size_t size_bytes) noexcept;
  base::Status run(const Copy& copy) noexcept {
    return forced_ ? engines_.run_named(*forced_, copy) : engines_.run_fastest(copy);
  }
  [[nodiscard]] bool is_still_allocated() const noexcept;
  [[nodiscard]] HostMemory kind_of(const void* host, std::size_t size_bytes) const noexcept;

  DeviceEngines& engines_;
  const Span span_;
  const std::optional<Id> forced_;
  const std::uint64_t buffer_id_;  ///< CUDA's name of the allocation, never used twice
};

/// The engines of a context, opened as mappings need them. Thread safe.
class Engines {
 public:
  /// `forced_engine`: GDRKIT_ENGINE, "" if not set. The backend outlives the engines. `cuda`: replaces the driver in a
  /// test. `profiles`: the directory of the profiles that "gdrkit tune" wrote, "": none.
  Engines(backend::Backend& backend, const std::string& forced_engine, const CudaCalls* cuda = nullptr,
          const ResidenceLimits& limits = {}, const std::string& profiles = {})
      : backend_(backend), forced_(forced_engine), cuda_(cuda), limits_(limits), profiles_(profiles) {}

  /// nullptr where the copies need no path: engine cpu. `engine`: a name of engines.def or "automatic"; "": the forced
  /// one, else cpu. EINVAL for another name; a named engine that cannot run here or cannot serve this memory is
  /// an error; "automatic" then does without it.
  [[nodiscard]] base::Result<std::unique_ptr<Path>> open_path(const Span& span, const char* engine) noexcept;
  /// The file that holds, or would hold, the profile of this device (CUDA's number). ENOENT without a directory.
  [[nodiscard]] base::Result<std::string> profile_path(int device) noexcept;

 private:
  base::Result<std::string> profile_path(const Gpu& gpu) const noexcept;
  Table table_for(const Gpu& gpu) const noexcept;
  base::Result<std::optional<Id>> decide(const char* engine) const noexcept;
  base::Result<DeviceEngines*> engines_of(int device) noexcept;
  base::Result<const CudaCalls*> cuda() const noexcept;
  base::Result<std::unique_ptr<Path>> open_gpu_path(const Span& span, std::optional<Id> forced) noexcept;

  backend::Backend& backend_;
  const std::string forced_;
  const CudaCalls* const cuda_;
  const ResidenceLimits limits_;
  const std::string profiles_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<DeviceEngines>> devices_;  ///< by CUDA's number
};

}  // namespace gdrkit::engine
