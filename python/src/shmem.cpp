// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The extension module gdrkit._shmem: the functions of gdrkit/shmem.h on addresses and numbers. gdrkit/shmem.py adds
// arrays and names.
#include <gdrkit/shmem.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "errors.hpp"
#include "shmem_local.hpp"

namespace nb = nanobind;

namespace gdrkit_python {
namespace {

nb::bytes get_unique_id() {
  gdrkit_shmem_unique_id_t id{};
  check_shmem(gdrkit_shmem_get_unique_id(&id));
  return nb::bytes(reinterpret_cast<const char*>(id.bytes), sizeof id.bytes);
}

std::uint64_t init(int n_pes, int pe, std::optional<int> device, std::uint32_t timeout_ms,
                   std::optional<nb::bytes> unique_id, std::uint64_t heap_bytes, std::uint64_t heap_max_bytes) {
  gdrkit_shmem_options options{};
  options.struct_size = sizeof options;
  options.n_pes = n_pes;
  options.pe = pe;
  options.has_device = device ? 1 : 0;
  options.device = device.value_or(0);
  options.timeout_ms = timeout_ms;
  gdrkit_shmem_unique_id_t id{};
  if (unique_id) {
    if (unique_id->size() != sizeof id.bytes)
      throw nb::value_error("invalid unique id: it does not have 128 bytes; pass the bytes that PE 0 created");
    std::memcpy(id.bytes, unique_id->data(), sizeof id.bytes);
    options.unique_id = &id;
  }
  options.heap_bytes = heap_bytes;
  options.heap_max_bytes = heap_max_bytes;
  call_shmem([&] { return gdrkit_shmem_init(&options); });
  gdrkit_shmem_pe_t handle{};
  check_shmem(gdrkit_shmem_current(&handle));
  return handle.value;
}

/// (PE, number of PEs, PEs of this machine, device, is emulated, heap address, heap bytes, used, most)
nb::tuple info() {
  gdrkit_shmem_info info{};
  info.struct_size = sizeof info;
  check_shmem(gdrkit_shmem_get_info(&info));
  return nb::make_tuple(info.pe, info.n_pes, info.node_pes, info.device, info.is_emulated != 0, info.heap_address,
                        info.heap_bytes, info.heap_used_bytes, info.heap_max_bytes);
}

std::string describe(int pe) {
  const int length = check_shmem(gdrkit_shmem_describe(pe, nullptr, 0));
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  check_shmem(gdrkit_shmem_describe(pe, text.data(), text.size()));
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::uintptr_t allocate(std::size_t size_bytes, bool is_zeroed) {
  void* address = nullptr;
  call_shmem([&] {
    return is_zeroed ? gdrkit_shmem_calloc(1, size_bytes, &address) : gdrkit_shmem_malloc(size_bytes, &address);
  });
  return reinterpret_cast<std::uintptr_t>(address);
}

std::uintptr_t register_symmetric(std::uintptr_t buffer, std::size_t size_bytes) {
  void* address = nullptr;
  call_shmem([&] { return gdrkit_shmem_buffer_register_symmetric(at(buffer), size_bytes, &address); });
  return reinterpret_cast<std::uintptr_t>(address);
}

/// Returns None for a PE whose memory this GPU does not reach.
std::optional<std::uintptr_t> pointer_at(std::uintptr_t address, int pe) {
  void* pointer = nullptr;
  const int result = gdrkit_shmem_ptr(at(address), pe, &pointer);
  if (result == -EOPNOTSUPP) return std::nullopt;
  check_shmem(result);
  return reinterpret_cast<std::uintptr_t>(pointer);
}

void bind_job(nb::module_& module) {
  module.def("get_unique_id", get_unique_id);
  module.def("init", init, nb::arg("n_pes"), nb::arg("pe"), nb::arg("device").none(), nb::arg("timeout_ms"),
             nb::arg("unique_id").none(), nb::arg("heap_bytes"), nb::arg("heap_max_bytes"));
  module.def("finalize", [] { call_shmem(gdrkit_shmem_finalize); });
  module.def("use", [](std::uint64_t handle) { check_shmem(gdrkit_shmem_use({handle})); });
  module.def("my_pe", [] { return gdrkit_shmem_my_pe(); });
  module.def("n_pes", [] { return gdrkit_shmem_n_pes(); });
  module.def("info", info, nb::sig("def info() -> tuple[int, int, int, int, bool, int, int, int, int]"));
  module.def("set_timeout", [](std::uint32_t ms) { check_shmem(gdrkit_shmem_set_timeout(ms)); });
  module.def("describe", describe);
  module.def("module_init", [](std::uintptr_t module) { check_shmem(gdrkit_shmem_module_init(at(module))); });
  module.def("library_init", [](std::uintptr_t library) { check_shmem(gdrkit_shmem_library_init(at(library))); });
  module.def("allocate", allocate);
  module.def("free", [](std::uintptr_t address) { call_shmem([&] { return gdrkit_shmem_free(at(address)); }); });
  module.def("register_symmetric", register_symmetric);
  module.def("unregister_symmetric", [](std::uintptr_t address) {
    call_shmem([&] { return gdrkit_shmem_buffer_unregister_symmetric(at(address)); });
  });
  module.def("ptr", pointer_at);
}

}  // namespace

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): a device address
}

int check_shmem(int result) {
  if (result < 0) throw_error(-result, gdrkit_shmem_last_error());
  return result;
}

}  // namespace gdrkit_python

NB_MODULE(_shmem, module) {
  gdrkit_python::register_errors();
  gdrkit_python::bind_job(module);
  gdrkit_python::bind_transfers(module);
  gdrkit_python::bind_words(module);
  gdrkit_python::bind_collectives(module);
  gdrkit_python::bind_export(module);
}
