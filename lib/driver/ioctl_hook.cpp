// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/ioctl_hook.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

namespace gdrkit::driver {
namespace {

using IoctlFunction = int (*)(int, unsigned long, ...);

/// The recording of this thread. `seen` is null on threads that record nothing: their calls are only forwarded.
struct Recording {
  unsigned command_number = 0;
  std::vector<ObservedIoctl>* seen = nullptr;
};
thread_local Recording recording;

std::atomic<IoctlFunction> next_entry{nullptr};
std::mutex installing;
// False if another hook may have saved our entry and call it after an observation. Then `next_entry` keeps its value:
// forwarding to that hook's entry would form a loop. While true, each observation reads the slot again.
bool can_update_next = true;  // guarded by `installing`

void record(unsigned long request, int result, const void* argument) noexcept {
  try {
    ObservedIoctl seen;
    seen.request = request;
    seen.result = result;
    const auto* bytes = static_cast<const std::uint8_t*>(argument);
    seen.argument.assign(bytes, bytes + _IOC_SIZE(request));
    recording.seen->push_back(std::move(seen));
  } catch (...) {
    // Out of memory: the decoder rejects an export with a missing record.
  }
}

int observed_ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  const IoctlFunction next = next_entry.load(std::memory_order_acquire);
  const int result = next(fd, request, argument);
  if (recording.seen != nullptr && argument != nullptr && _IOC_TYPE(request) == 'F' &&
      _IOC_NR(request) == recording.command_number) {
    const int saved = errno;
    record(request, result < 0 ? -saved : 0, argument);
    errno = saved;
  }
  return result;
}

/// Pointers of the dynamic section are relocated in glibc; some other C libraries keep plain offsets.
template <class T>
const T* at(const link_map* map, ElfW(Addr) value) noexcept {
  return reinterpret_cast<const T*>(value < map->l_addr ? value + map->l_addr : value);
}

struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * rela[2] = {nullptr, nullptr};
  std::size_t rela_bytes[2] = {0, 0};
  std::size_t first[2] = {0, 0};  ///< index of the first entry that may be an import
};

Tables read_dynamic(const link_map* map) noexcept {
  Tables tables;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = at<ElfW(Sym)>(map, entry->d_un.d_ptr); break;
      case DT_STRTAB: tables.strings = at<char>(map, entry->d_un.d_ptr); break;
      case DT_RELA: tables.rela[0] = at<ElfW(Rela)>(map, entry->d_un.d_ptr); break;
      case DT_RELASZ: tables.rela_bytes[0] = entry->d_un.d_val; break;
      // The relative relocations, which precede all others: libcuda has 58,000 of them. Reading them takes 0.1 ms.
      case DT_RELACOUNT: tables.first[0] = entry->d_un.d_val; break;
      case DT_JMPREL: tables.rela[1] = at<ElfW(Rela)>(map, entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: tables.rela_bytes[1] = entry->d_un.d_val; break;
      default: break;
    }
  }
  return tables;
}

bool is_import(const ElfW(Rela) & relocation) noexcept {
#if defined(__x86_64__)
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
#elif defined(__aarch64__)
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
#elif defined(__powerpc64__)
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_PPC64_JMP_SLOT || type == R_PPC64_GLOB_DAT || type == R_PPC64_ADDR64;
#else
  return false;
#endif
}

/// The RELRO range of the library with load address `base`, from its program headers.
struct Relro {
  ElfW(Addr) base;
  std::uintptr_t first = 0;
  std::uintptr_t end = 0;
};

int find_relro(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto* relro = static_cast<Relro*>(data);
  if (info->dlpi_addr != relro->base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_GNU_RELRO) continue;
    relro->first = info->dlpi_addr + header.p_vaddr;
    // The loader protects whole pages only: the part that shares its last page with ordinary data stays writable.
    const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    relro->end = (relro->first + header.p_memsz) & ~(page_size - 1);
  }
  return 1;
}

struct Exchange {
  const ImportSlot& target;
  void* expected;
  void* replacement;
  bool done = false;
};

int exchange_under_loader_lock(dl_phdr_info*, std::size_t, void* data) noexcept {
  auto& exchange = *static_cast<Exchange*>(data);
  const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(exchange.target.slot) & ~(page_size - 1));
  if (exchange.target.is_read_only && ::mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return 1;
  exchange.done =
      std::atomic_ref<void*>(*exchange.target.slot).compare_exchange_strong(exchange.expected, exchange.replacement);
  if (exchange.target.is_read_only) ::mprotect(page, page_size, PROT_READ);
  return 1;
}

/// Replaces the content of the slot if it is `expected`. Returns false if it is not, or if the page cannot be made
/// writable. Runs inside dl_iterate_phdr for its lock, because a process may contain two copies of this code (libgdrapi
/// and libgdrkit). One must not revoke the page's write permission between the other's mprotect and store.
bool exchange(const ImportSlot& target, void* expected, void* replacement) noexcept {
  Exchange request{target, expected, replacement};
  ::dl_iterate_phdr(&exchange_under_loader_lock, &request);
  return request.done;
}

void* our_entry() noexcept { return reinterpret_cast<void*>(&observed_ioctl); }

/// The library whose slots were found last, and these slots. Guarded by `installing`.
struct Caller {
  std::vector<ImportSlot> slots;
  void* library = nullptr;
};

Caller& caller() noexcept {
  // Never destroyed: other threads and destructors that run later may still pin while the process exits.
  alignas(Caller) static unsigned char storage[sizeof(Caller)];
  static Caller& known = *new (storage) Caller;
  return known;
}

bool install(const ImportSlot& target) noexcept {
  constexpr int attempts = 8;  // others may exchange the slot at the same time
  for (int attempt = 0; attempt < attempts; ++attempt) {
    void* held = std::atomic_ref<void*>(*target.slot).load();
    if (held == our_entry()) return true;
    if (can_update_next) next_entry.store(reinterpret_cast<IoctlFunction>(held), std::memory_order_release);
    // An entry of another hook stays. It may call ours: the recording shows whether it does.
    if (held != reinterpret_cast<void*>(next_entry.load())) return true;
    if (exchange(target, held, our_entry())) return true;
  }
  return false;
}

/// Returns false if the slot contains neither our entry nor the C library's: another hook replaced ours and may call
/// it.
bool restore(const ImportSlot& target) noexcept {
  if (exchange(target, our_entry(), reinterpret_cast<void*>(next_entry.load()))) return true;
  const void* held = std::atomic_ref<void*>(*target.slot).load();
  // Lazy binding that was resolved through our entry overwrites the slot with the C library's function.
  return held == reinterpret_cast<void*>(next_entry.load()) || held == reinterpret_cast<void*>(&::ioctl);
}

}  // namespace

base::Result<std::vector<ImportSlot>> find_import_slots(void* handle, const char* symbol) noexcept {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_ld == nullptr) {
    return base::fail(EOPNOTSUPP, "cannot read the imports of the CUDA driver library: dlinfo failed");
  }
  const Tables tables = read_dynamic(map);
  if (tables.symbols == nullptr || tables.strings == nullptr) {
    return base::fail(EOPNOTSUPP, "cannot read the imports of %s: the library has no dynamic symbol table",
                      map->l_name);
  }
  Relro relro{map->l_addr};
  ::dl_iterate_phdr(&find_relro, &relro);
  std::vector<ImportSlot> slots;
  try {
    for (int table = 0; table < 2; ++table) {
      const std::size_t count = tables.rela[table] == nullptr ? 0 : tables.rela_bytes[table] / sizeof(ElfW(Rela));
      for (std::size_t i = tables.first[table]; i < count; ++i) {
        const ElfW(Rela)& relocation = tables.rela[table][i];
        if (!is_import(relocation)) continue;
        const ElfW(Sym)& entry = tables.symbols[ELF64_R_SYM(relocation.r_info)];
        if (std::strcmp(tables.strings + entry.st_name, symbol) != 0) continue;
        const std::uintptr_t address = map->l_addr + relocation.r_offset;
        slots.push_back({reinterpret_cast<void**>(address), address >= relro.first && address < relro.end});
      }
    }
  } catch (...) {
    return base::fail(ENOMEM, "cannot find %s among the imports of %s: out of memory", symbol, map->l_name);
  }
  if (slots.empty()) return base::fail(EOPNOTSUPP, "cannot find %s among the imports of %s", symbol, map->l_name);
  return slots;
}

IoctlObserver::IoctlObserver(void* library, unsigned command_number, std::vector<ObservedIoctl>* seen) noexcept {
  installing.lock();
  Caller& known = caller();
  if (known.library != library) {
    auto slots = find_import_slots(library, "ioctl");
    if (!slots) {
      installed_ = base::pass(slots);
      return;
    }
    known.slots = std::move(*slots);
    known.library = library;
  }
  bool is_any_installed = false;
  for (const ImportSlot& slot : known.slots) is_any_installed = install(slot) || is_any_installed;
  if (is_any_installed) {
    recording = {command_number, seen};
  } else {
    installed_ = base::fail(EOPNOTSUPP, "cannot replace libcuda's import of ioctl: %s", std::strerror(errno));
  }
}

IoctlObserver::~IoctlObserver() {
  recording = {};
  bool are_restored = true;
  for (const ImportSlot& slot : caller().slots) are_restored = restore(slot) && are_restored;
  can_update_next = are_restored;
  installing.unlock();
}

}  // namespace gdrkit::driver
