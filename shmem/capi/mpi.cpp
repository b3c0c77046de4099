// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Init from an MPI communicator. The MPI is found at run time, so that neither this library nor the program's order of
// includes depends on one. There are two ABIs: Open MPI's handles are pointers, and those of MPICH and its derivatives
// (Intel MPI, MVAPICH, Cray MPI) are ints.
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "shmem/capi/calls.hpp"

using gdrkit::shmem_impl::capi::code_of;
using gdrkit::shmem_impl::capi::error_of;
using gdrkit::shmem_impl::capi::refuse_null;

namespace base = gdrkit::base;

namespace {

/// The files named libmpi* that this process has loaded.
std::vector<std::string> mpi_libraries() {
  std::vector<std::string> names;
  const auto add = [](dl_phdr_info* object, std::size_t, void* all) {
    const char* const slash = std::strrchr(object->dlpi_name, '/');
    if (slash != nullptr && std::strncmp(slash, "/libmpi", 7) == 0) {
      static_cast<std::vector<std::string>*>(all)->emplace_back(object->dlpi_name);
    }
    return 0;
  };
  ::dl_iterate_phdr(add, &names);
  return names;
}

/// Finds a symbol of MPI also if a module, such as mpi4py's, loaded MPI for itself (RTLD_LOCAL).
void* address_of(const char* name) noexcept try {
  if (void* const address = ::dlsym(RTLD_DEFAULT, name); address != nullptr) return address;
  for (const std::string& library : mpi_libraries()) {
    void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const address = ::dlsym(handle, name);
    ::dlclose(handle);
    if (address != nullptr) return address;
  }
  return nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

template <class Function>
Function* find(const char* name) noexcept {
  return reinterpret_cast<Function*>(address_of(name));
}

/// The functions that are used, with the communicator's and the type's handles as this MPI has them.
template <class Communicator, class Type>
struct Mpi {
  int (*rank)(Communicator, int*) = nullptr;
  int (*size)(Communicator, int*) = nullptr;
  int (*allgather)(const void*, int, Type, void*, int, Type, Communicator) = nullptr;
  Type byte;

  static Mpi loaded(Type byte) noexcept {
    return {find<int(Communicator, int*)>("MPI_Comm_rank"), find<int(Communicator, int*)>("MPI_Comm_size"),
            find<int(const void*, int, Type, void*, int, Type, Communicator)>("MPI_Allgather"), byte};
  }
};
using OpenMpi = Mpi<void*, void*>;
using Mpich = Mpi<int, int>;

/// MPI_BYTE of Open MPI: the address of this object.
void* open_mpi_byte() noexcept { return address_of("ompi_mpi_byte"); }
constexpr int mpich_byte = 0x4c00010d;

template <class Communicator, class Type>
int gather(const Mpi<Communicator, Type>& mpi, const void* mine, size_t size_bytes, void* all, void* communicator) {
  const auto count = static_cast<int>(size_bytes);
  return mpi.allgather(mine, count, mpi.byte, all, count, mpi.byte, *static_cast<Communicator*>(communicator));
}
int gather_by_open_mpi(const void* mine, size_t size_bytes, void* all, void* communicator) {
  return gather(OpenMpi::loaded(open_mpi_byte()), mine, size_bytes, all, communicator);
}
int gather_by_mpich(const void* mine, size_t size_bytes, void* all, void* communicator) {
  return gather(Mpich::loaded(mpich_byte), mine, size_bytes, all, communicator);
}

template <class Communicator, class Type>
base::Status use(const Mpi<Communicator, Type>& mpi, gdrkit_shmem_options* options, void* communicator,
                 gdrkit_shmem_allgather_t allgather) noexcept {
  if (mpi.rank == nullptr || mpi.size == nullptr || mpi.allgather == nullptr) {
    return base::fail_literal(ENOENT,
                              "cannot use an MPI communicator: this process has not loaded an MPI library; link the "
                              "program with MPI, or load an MPI library first");
  }
  const auto handle = *static_cast<Communicator*>(communicator);
  if (mpi.rank(handle, &options->pe) != 0 || mpi.size(handle, &options->n_pes) != 0) {
    return base::fail_literal(EINVAL,
                              "cannot use an MPI communicator: MPI_Comm_rank or MPI_Comm_size failed; pass a valid "
                              "communicator after MPI_Init");
  }
  options->allgather = allgather;
  options->allgather_argument = communicator;
  return {};
}

}  // namespace

int gdrkit_shmem_use_mpi(gdrkit_shmem_options* options, void* communicator) {
  if (options == nullptr) return error_of(refuse_null("the options"));
  if (communicator == nullptr) return error_of(refuse_null("the MPI communicator"));
  void* const byte = open_mpi_byte();
  const auto used = byte != nullptr ? use(OpenMpi::loaded(byte), options, communicator, &gather_by_open_mpi)
                                    : use(Mpich::loaded(mpich_byte), options, communicator, &gather_by_mpich);
  return code_of(used);
}
