// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#ifndef GDRKIT_MAP_OPTIONS_HPP
#define GDRKIT_MAP_OPTIONS_HPP

#include <gdrkit/mapping.h>

#include <cstdint>
#include <optional>
#include <string_view>

/// @file
/// @brief MapOptions: how memory is mapped, and which engine copies.

namespace gdrkit {

/// @brief Memory type of a CPU mapping; see gdrkit_mapping_type.
enum class MappingType : std::int32_t {
  automatic = GDRKIT_MAPPING_DEFAULT,                ///< the type that the platform supports best
  write_combining = GDRKIT_MAPPING_WRITE_COMBINING,  ///< stores are combined into lines, loads are not cached
  cached = GDRKIT_MAPPING_CACHED,                    ///< coherent memory in the CPU's caches
  device = GDRKIT_MAPPING_DEVICE,                    ///< neither combined nor cached
};

/// @brief Engine that performs the copies of a mapping; see gdrkit_engine.
enum class Engine : std::int32_t {
  unspecified = GDRKIT_ENGINE_DEFAULT,      ///< $GDRKIT_ENGINE, else cpu
  cpu = GDRKIT_ENGINE_CPU,                  ///< CPU stores and loads
  lanes = GDRKIT_ENGINE_LANES,              ///< several threads, for large copies
  copy_engine = GDRKIT_ENGINE_COPY_ENGINE,  ///< CUDA's asynchronous copies
  mover = GDRKIT_ENGINE_MOVER,              ///< a resident GPU kernel
  automatic = GDRKIT_ENGINE_AUTOMATIC,      ///< the fastest for each copy
};

/// @brief Returns the engine with this name. The names are the values of $GDRKIT_ENGINE.
/// @param[in] name  For instance "copy_engine".
/// @return The engine, or std::nullopt if the name is unknown.
[[nodiscard]] inline std::optional<Engine> engine_from_name(std::string_view name) noexcept {
  for (int number = GDRKIT_ENGINE_CPU; const char* const known = gdrkit_engine_name(number); ++number) {
    if (name == known) return static_cast<Engine>(number);
  }
  return std::nullopt;
}

/// @brief Options of Pin::map() and gdrkit::map(): MapOptions{.engine = Engine::automatic}.
struct MapOptions {
  MappingType type = MappingType::automatic;  ///< memory type of the mapping
  Engine engine = Engine::unspecified;        ///< engine that performs the copies
};

}  // namespace gdrkit

#endif
