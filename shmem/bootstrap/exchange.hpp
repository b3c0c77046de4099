// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Exchange: how the PEs of one job first find each other: an all-gather of bytes, and nothing else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "shmem/secret/blake2s.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// One PE's end of the exchange, used by one thread at a time. Every call is collective: all PEs make the same calls in
/// the same order with the same sizes. Each call ends within the limit of the exchange. PEs other than 0 wait one
/// second longer, because only PE 0 can name the missing PEs. An error names the PE and the step, and is sent to the
/// remaining PEs, so that all of them fail. After EPROTO the exchange can be used again; after any other error every
/// call fails. In a forked child of a PE it fails with EACCES.
class Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual int pe() const noexcept = 0;
  [[nodiscard]] virtual int n_pes() const noexcept = 0;
  /// `all` holds n_pes() * size_bytes; part i comes from PE i. `step` is for error messages: "heap sizes".
  /// ETIMEDOUT, ECONNRESET (a PE has left), EPROTO (sizes or steps differ between PEs), or the error of another PE.
  virtual base::Status allgather(const void* mine, std::size_t size_bytes, void* all, const char* step) noexcept = 0;
  /// The key that only the PEs of the job have; it is never sent. nullptr: this kind of exchange has no key.
  [[nodiscard]] virtual const secret::Key* job_key() const noexcept { return nullptr; }

  /// The same for one trivially copyable value.
  template <class T>
  base::Result<std::vector<T>> gather(const T& mine, const char* step);
};

template <class T>
base::Result<std::vector<T>> Exchange::gather(const T& mine, const char* step) {
  std::vector<T> all(static_cast<std::size_t>(n_pes()));
  if (auto gathered = allgather(&mine, sizeof mine, all.data(), step); !gathered) return base::pass(gathered);
  return all;
}

inline constexpr std::size_t unique_id_bytes = 128;

/// Name of a job: the address at which PE 0 listens, and a random secret of its PEs.
struct UniqueId {
  unsigned char bytes[unique_id_bytes] = {};
};
/// Listens on the interface $GDRKIT_SHMEM_INTERFACE, else on the first interface that is up and is not the loopback,
/// else on the loopback. The calling process must become PE 0, which takes over the listener.
[[nodiscard]] base::Result<UniqueId> make_unique_id() noexcept;
/// Closes the socket of an id that no job will use. EINVAL: this process has no socket for the id.
base::Status release_unique_id(const UniqueId& id) noexcept;
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> exchange_by_unique_id(const UniqueId& id, int pe, int n_pes,
                                                                            std::chrono::milliseconds limit) noexcept;

/// The application's all-gather (MPI_Allgather, a store of PyTorch's): 0 on success.
using AllgatherFunction = int (*)(const void* mine, std::size_t size_bytes, void* all, void* argument);
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> exchange_by_callback(AllgatherFunction function, void* argument,
                                                                           int pe, int n_pes) noexcept;

/// What a launcher left in the environment: GDRKIT_SHMEM_PE, _NPES, _LOCAL_INDEX, _ROOT, _TOKEN and _LISTEN_FD of
/// `gdrkit run`; else RANK, WORLD_SIZE, LOCAL_RANK and MASTER_ADDR of torchrun, with MASTER_PORT + 1, as torchrun's own
/// store listens at MASTER_PORT; else the variables of Open MPI, PMI or Slurm's srun, without an address:
/// PE 0 publishes its address through the launcher's PMIx (libpmix.so.2, loaded at run time) or PMI-1.
/// GDRKIT_SHMEM_ROOT and _TOKEN apply under every launcher. GDRKIT_SHMEM_TOKEN_FILE names a file that contains the
/// token.
struct LaunchEnvironment {
  /// "gdrkit run", "torchrun", "mpirun (Open MPI)", ...: for messages; "" when none was found
  std::string launcher = {};
  int pe = 0;
  int n_pes = 1;
  int local_index = 0;     ///< of this process among those on its machine, for the choice of a GPU
  std::string root = {};   ///< "host:port" of PE 0; "": the launcher does not set it
  std::string token = {};  ///< secret of the job's PEs; "": the launcher sets none
  int listen_fd = -1;      ///< for PE 0 under `gdrkit run`: already listening at root
};
/// EINVAL: variables conflict; the error names them. EACCES: other users can access the file that
/// GDRKIT_SHMEM_TOKEN_FILE names. Without a launcher, the job has one PE.
[[nodiscard]] base::Result<LaunchEnvironment> read_launch_environment() noexcept;
/// Without a token, all PEs must belong to one user and run on PE 0's machine: they connect over a UNIX socket, where
/// each side reads the other's user from Linux. EACCES: PE 0 is on another machine, or another user's process took its
/// name.
[[nodiscard]] base::Result<std::unique_ptr<Exchange>> exchange_by_environment(const LaunchEnvironment& environment,
                                                                              std::chrono::milliseconds limit) noexcept;

}  // namespace gdrkit::shmem_impl::bootstrap
