// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The C API for GPU code and local buffers.
#include "shmem/capi/calls.hpp"

#include "shmem/core/state_users.hpp"

using gdrkit::shmem_impl::capi::address_with_pe;
using gdrkit::shmem_impl::capi::code_of;
using gdrkit::shmem_impl::capi::error_of;
using gdrkit::shmem_impl::capi::refuse_null;
using gdrkit::shmem_impl::capi::with_pe;
using gdrkit::shmem_impl::core::add_state_user;
using gdrkit::shmem_impl::core::Pe;
using gdrkit::shmem_impl::core::remove_state_user;

namespace base = gdrkit::base;

namespace {

/// Like with_pe, while the PE's GPU is current.
template <class Function>
int with_gpu(Function function) noexcept {
  return with_pe([&](Pe& self) { return self.connections().with_device([&] { return function(self); }); });
}

}  // namespace

int gdrkit_shmem_register_state(gdrkit_shmem_fill_state_t fill) {
  if (fill == nullptr) return error_of(refuse_null("the function that fills the state"));
  return code_of(add_state_user(fill));
}

int gdrkit_shmem_unregister_state(gdrkit_shmem_fill_state_t fill) {
  remove_state_user(fill);
  return 0;
}

int gdrkit_shmem_call_with_gpu(void (*function)(void* argument), void* argument) {
  return with_gpu([=](Pe&) -> base::Status {
    function(argument);
    return {};
  });
}

int gdrkit_shmem_copy_to_gpu(void* target, const void* source, size_t size_bytes) {
  return with_gpu([=](Pe& self) {
    return self.device().copy_to_device(reinterpret_cast<std::uint64_t>(target), source, size_bytes);
  });
}

int gdrkit_shmem_copy_from_gpu(void* target, const void* source, size_t size_bytes) {
  return with_gpu([=](Pe& self) {
    return self.device().copy_to_host(target, reinterpret_cast<std::uint64_t>(source), size_bytes);
  });
}

int gdrkit_shmem_find_variable(void* module, const char* name, void** address, size_t* size_bytes) {
  return with_pe([=](Pe& self) -> base::Status {
    const auto symbol = self.gpu_code().find_variable(module, name);
    if (!symbol) return base::pass(symbol);
    *address = reinterpret_cast<void*>(symbol->address);
    if (size_bytes != nullptr) *size_bytes = symbol->size_bytes;
    return {};
  });
}

int gdrkit_shmem_module_of_library(void* library, void** module) {
  return address_with_pe(module, [=](Pe& self) { return self.gpu_code().module_of(library); });
}

int gdrkit_shmem_module_init(void* module) {
  return with_pe([=](Pe& self) { return self.gpu_code().initialise_module(module); });
}

int gdrkit_shmem_library_init(void* library) {
  return with_pe([=](Pe& self) { return self.gpu_code().initialise_library(library); });
}

int gdrkit_shmem_collective_launch(void* function, const unsigned grid[3], const unsigned block[3], size_t shared_bytes,
                                   void* stream, void** parameters) {
  return with_pe([=](Pe& self) -> base::Status {
    if (grid == nullptr || block == nullptr) return refuse_null("grid or block");
    if (shared_bytes > UINT32_MAX)
      return base::fail(EINVAL, "cannot launch the GPU kernel: %zu bytes of shared memory exceed the limit of 4 GiB",
                        shared_bytes);
    return self.gpu_code().launch_cooperative(
        function, {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, static_cast<unsigned>(shared_bytes)},
        stream, parameters);
  });
}

int gdrkit_shmem_collective_grid(void* function, unsigned threads, size_t shared_bytes) {
  return with_pe([=](Pe& self) { return self.gpu_code().cooperative_blocks(function, threads, shared_bytes); });
}

int gdrkit_shmem_buffer_register(const void* address, size_t size_bytes) {
  return with_pe([=](Pe& self) { return self.transfers().register_buffer(address, size_bytes); });
}

int gdrkit_shmem_buffer_unregister(const void* address) {
  return with_pe([=](Pe& self) { return self.transfers().unregister_buffer(address); });
}

int gdrkit_shmem_buffer_unregister_all(void) {
  return with_pe([](Pe& self) -> base::Status {
    self.transfers().unregister_all_buffers();
    return {};
  });
}
