// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PMIx, of mpirun (Open MPI) and of srun --mpi=pmix, by the library that the machine has. Types and numbers are those
// of the PMIx standard 4.0, which libpmix.so.2 implements; what is used here has not changed since 2.0.
#include <dlfcn.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>

#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/launcher_store.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

struct PmixProcess {
  char name_space[256] = {};
  std::uint32_t rank = 0;
};

struct PmixValue {
  std::uint16_t type = 0;
  union {
    char* text;
    char room[128];  // the standard's union is shorter
  } data{};
};
constexpr std::uint16_t pmix_string = 3;
constexpr std::uint8_t pmix_global = 3;

struct PmixLibrary {
  int (*initialize)(PmixProcess*, void* information, std::size_t) = nullptr;
  int (*put)(std::uint8_t scope, const char* key, PmixValue*) = nullptr;
  int (*commit)() = nullptr;
  int (*fence)(const PmixProcess*, std::size_t, const void* information, std::size_t) = nullptr;
  int (*get)(const PmixProcess*, const char* key, const void* information, std::size_t, PmixValue**) = nullptr;
  int (*finalize)(const void* information, std::size_t) = nullptr;
  const char* (*error_text)(int) = nullptr;
};

/// Never unloads the library, because it has running threads.
base::Result<PmixLibrary> load_pmix() {
  void* const handle = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return base::fail(ENOTSUP, "%s (Debian package libpmix2)", why == nullptr ? "no reason given" : why);
  }
  PmixLibrary library;
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(::dlsym(handle, name));
    if (*function == nullptr) missing = name;
  };
  find("PMIx_Init", &library.initialize);
  find("PMIx_Put", &library.put);
  find("PMIx_Commit", &library.commit);
  find("PMIx_Fence", &library.fence);
  find("PMIx_Get", &library.get);
  find("PMIx_Finalize", &library.finalize);
  find("PMIx_Error_string", &library.error_text);
  if (missing != nullptr) return base::fail(ENOTSUP, "libpmix.so.2 lacks the function %s", missing);
  return library;
}

/// PMIx_Init counts: ours is once in a process. It is taken back when the process ends: mpirun takes an end without
/// that for a failure, and Open MPI's MPI_Init fails after it.
struct PmixSession {
  std::mutex mutex;
  pid_t process = -1;
  PmixLibrary library;
  PmixProcess own;
  bool is_idle = false;  ///< no call of ours waits, so finalizing does not
};

/// Never destroyed: a thread may wait in PMIx until the process ends.
PmixSession& pmix_session() {
  static PmixSession& session = *new PmixSession;
  return session;
}

void finalize_pmix() {
  PmixSession& session = pmix_session();
  if (session.process != ::getpid() || !session.mutex.try_lock()) return;
  if (session.is_idle) session.library.finalize(nullptr, 0);
  session.mutex.unlock();
}

base::Result<std::string> get_of_pe_0(const PmixLibrary& library, const PmixProcess& own, const char* key) {
  PmixProcess first = own;
  first.rank = 0;
  PmixValue* found = nullptr;
  if (const int status = library.get(&first, key, nullptr, 0, &found); status != 0 || found == nullptr) {
    return base::fail(EIO, "PMIx_Get failed: %s", library.error_text(status));
  }
  const bool is_text = found->type == pmix_string && found->data.text != nullptr;
  const std::string text = is_text ? found->data.text : "";
  // As the standard's macro for it does.
  if (is_text) std::free(found->data.text);
  std::free(found);
  return text;
}

base::Status begin_pmix(PmixSession* session) {
  if (session->process == ::getpid()) return {};
  const auto library = load_pmix();
  if (!library) return base::pass(library);
  if (const int status = library->initialize(&session->own, nullptr, 0); status != 0) {
    return base::fail(EIO, "PMIx_Init failed: %s", library->error_text(status));
  }
  session->library = *library;
  session->process = ::getpid();
  std::atexit(finalize_pmix);
  return {};
}

base::Result<std::string> share_now(int pe, const std::string& name, std::string value) {
  PmixSession& session = pmix_session();
  const std::lock_guard lock(session.mutex);
  session.is_idle = false;
  if (auto begun = begin_pmix(&session); !begun) return base::pass(begun);
  const PmixLibrary& library = session.library;
  const auto check = [&](const char* call, int status) -> base::Status {
    if (status == 0) return {};
    return base::fail(EIO, "%s failed: %s", call, library.error_text(status));
  };
  char key[512] = {};  // the length of the standard's type
  std::strncpy(key, name.c_str(), sizeof key - 1);
  base::Status done;
  if (pe == 0) {
    PmixValue put;
    put.type = pmix_string;
    put.data.text = value.data();
    done = check("PMIx_Put", library.put(pmix_global, key, &put));
    if (done) done = check("PMIx_Commit", library.commit());
  }
  if (done) done = check("PMIx_Fence", library.fence(nullptr, 0, nullptr, 0));
  base::Result<std::string> result = std::move(value);
  if (done && pe != 0) result = get_of_pe_0(library, session.own, key);
  session.is_idle = true;
  if (!done) return base::pass(done);
  return result;
}

}  // namespace

base::Result<std::string> share_by_pmix(int pe, const std::string& key, const std::string& value,
                                        std::chrono::milliseconds limit) {
  struct Outcome {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<base::Result<std::string>> result;
  };
  // PMIx waits forever for a missing PE, so a thread waits in place of the caller.
  const auto outcome = std::make_shared<Outcome>();
  const Deadline deadline(limit);
  try {
    std::thread([outcome, pe, key, value] {
      auto result = share_now(pe, key, value);
      const std::lock_guard lock(outcome->mutex);
      outcome->result = std::move(result);
      outcome->came.notify_one();
    }).detach();
  } catch (const std::system_error& error) {
    return base::fail(EAGAIN, "cannot start a thread for PMIx: %s", error.what());
  }
  std::unique_lock lock(outcome->mutex);
  while (!outcome->result && !deadline.has_passed()) {
    outcome->came.wait_for(lock, std::chrono::milliseconds(deadline.poll_ms()));
  }
  if (!outcome->result) {
    return base::fail(ETIMEDOUT, "not all PEs used PMIx within %s", deadline.limit_text().c_str());
  }
  return *outcome->result;
}

}  // namespace gdrkit::shmem_impl::bootstrap
