// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t object_bytes = 1000;

/// One remote range of `size_bytes` at PE `pe`, and local memory for it. To add an operation, add a row.
struct Access {
  std::uint8_t* remote;
  std::uint8_t* local;
  std::size_t size_bytes;
  std::uint64_t* signal;
  int pe;
};
struct Operation {
  const char* name;
  std::size_t fixed_bytes;  ///< 0: any size
  int (*call)(const Access& access);
};
constexpr Operation operations[] = {
    {"put", 0, [](const Access& a) { return gdrkit_shmem_put(a.remote, a.local, a.size_bytes, a.pe); }},
    {"get", 0, [](const Access& a) { return gdrkit_shmem_get(a.local, a.remote, a.size_bytes, a.pe); }},
    {"put_nbi", 0, [](const Access& a) { return gdrkit_shmem_put_nbi(a.remote, a.local, a.size_bytes, a.pe); }},
    {"get_nbi", 0, [](const Access& a) { return gdrkit_shmem_get_nbi(a.local, a.remote, a.size_bytes, a.pe); }},
    {"put_signal", 0,
     [](const Access& a) {
       return gdrkit_shmem_put_signal(a.remote, a.local, a.size_bytes, a.signal, 1, GDRKIT_SHMEM_SIGNAL_SET, a.pe);
     }},
    {"put_signal to a wrong signal", 8,
     [](const Access& a) {
       return gdrkit_shmem_put_signal(a.signal, a.local, 8, reinterpret_cast<std::uint64_t*>(a.remote), 1,
                                      GDRKIT_SHMEM_SIGNAL_SET, a.pe);
     }},
    {"signal_op", 8,
     [](const Access& a) {
       return gdrkit_shmem_signal_op(reinterpret_cast<std::uint64_t*>(a.remote), 1, GDRKIT_SHMEM_SIGNAL_SET, a.pe);
     }},
    {"atomic add", 8,
     [](const Access& a) { return gdrkit_shmem_atomic(a.remote, 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, nullptr, a.pe); }},
    {"atomic fetch", 4,
     [](const Access& a) {
       std::uint64_t fetched = 0;
       return gdrkit_shmem_atomic(a.remote, 4, GDRKIT_SHMEM_ATOMIC_FETCH, 0, 0, &fetched, a.pe);
     }},
    {"put_on_stream", 0,
     [](const Access& a) { return gdrkit_shmem_put_on_stream(a.remote, a.local, a.size_bytes, a.pe, nullptr); }},
    {"get_on_stream", 0,
     [](const Access& a) { return gdrkit_shmem_get_on_stream(a.local, a.remote, a.size_bytes, a.pe, nullptr); }},
    {"put_value_on_stream", 8,
     [](const Access& a) { return gdrkit_shmem_put_value_on_stream(a.remote, a.local, 8, a.pe, nullptr); }},
    {"put_signal_on_stream to a wrong signal", 8,
     [](const Access& a) {
       return gdrkit_shmem_put_signal_on_stream(a.signal, a.local, 8, reinterpret_cast<std::uint64_t*>(a.remote), 1,
                                                GDRKIT_SHMEM_SIGNAL_SET, a.pe, nullptr);
     }},
    {"int_p", 4, [](const Access& a) { return gdrkit_shmem_int_p(reinterpret_cast<int*>(a.remote), 1, a.pe); }},
    {"double_put", 8,
     [](const Access& a) {
       return gdrkit_shmem_double_put(reinterpret_cast<double*>(a.remote), reinterpret_cast<double*>(a.local), 1, a.pe);
     }},
};

struct WrongPlace {
  std::string name;
  std::uint8_t* remote;
  std::size_t size_bytes;
  int pe;
};

std::vector<WrongPlace> wrong_places(Checker& checker, const SymmetricMemory& object, std::uint8_t* host) {
  const int pe = checker.neighbour(1);
  std::uint8_t* const begin = object.data();
  const gdrkit_shmem_info info = checker.session().info();
  auto* const heap = reinterpret_cast<std::uint8_t*>(info.heap_address);
  return {
      {"PE -1", begin, 8, -1},
      {"PE n", begin, 8, checker.n_pes()},
      {"PE 2^31 - 1", begin, 8, INT32_MAX},
      {"address NULL", nullptr, 8, pe},
      {"host memory", host, 8, pe},
      {"8 bytes before the heap", heap - 8, 8, pe},
      {"the end of the heap", heap + info.heap_max_bytes, 8, pe},
      {"no allocation of the heap", heap + info.heap_bytes - 8, 8, pe},
      {"one byte over the end", begin + object_bytes - 7, 8, pe},
      {"far over the end", begin, std::size_t{1} << 50, pe},
      {"a size that wraps around", begin + 8, SIZE_MAX - 7, pe},
  };
}

void check_words(Checker& checker, const SymmetricMemory& object) {
  std::uint8_t* const begin = object.data();
  const int pe = checker.neighbour(1);
  const auto atomic = [&](std::size_t offset, std::size_t size, int operation) {
    return gdrkit_shmem_atomic(begin + offset, size, static_cast<gdrkit_shmem_atomic_operation>(operation), 1, 0,
                               nullptr, pe);
  };
  checker.is_refused(atomic(4, 8, GDRKIT_SHMEM_ATOMIC_ADD), EINVAL, "atomic add of 8 bytes, aligned to 4");
  checker.is_refused(atomic(2, 4, GDRKIT_SHMEM_ATOMIC_ADD), EINVAL, "atomic add of 4 bytes, aligned to 2");
  checker.is_refused(atomic(0, 2, GDRKIT_SHMEM_ATOMIC_ADD), EINVAL, "atomic add of 2 bytes");
  checker.is_refused(atomic(0, 8, 99), EINVAL, "atomic operation 99");
  auto* const word = reinterpret_cast<std::uint64_t*>(begin);
  checker.is_refused(gdrkit_shmem_signal_op(word, 1, static_cast<gdrkit_shmem_signal>(3), pe), EINVAL,
                     "signal operation 3");
  checker.is_refused(gdrkit_shmem_test(begin, static_cast<gdrkit_shmem_word>(3), GDRKIT_SHMEM_EQ, 0), EINVAL,
                     "test of a word of 3 bytes");
  checker.is_refused(gdrkit_shmem_wait_until(begin, GDRKIT_SHMEM_UINT64, static_cast<gdrkit_shmem_comparison>(7), 0),
                     EINVAL, "wait_until with comparison 7");
  checker.is_refused(gdrkit_shmem_test(begin + 1, GDRKIT_SHMEM_UINT32, GDRKIT_SHMEM_EQ, 0), EINVAL,
                     "test of a word that is not aligned");
  checker.is_refused(gdrkit_shmem_put(begin, nullptr, 8, pe), EINVAL, "put from NULL");
  checker.is_refused(gdrkit_shmem_get(nullptr, begin, 8, pe), EINVAL, "get to NULL");
}

}  // namespace

void check_refusals(Checker& checker) {
  const SymmetricMemory object(checker, object_bytes);
  const SymmetricMemory signal(checker, sizeof(std::uint64_t));
  const std::vector<std::uint8_t> before = pattern(object_bytes, 77);
  const std::vector<std::uint8_t> host_before = pattern(object_bytes, 78);
  std::vector<std::uint8_t> host = host_before;
  checker.write(object.data(), before.data(), object_bytes);
  checker.fill(signal.data(), 0, sizeof(std::uint64_t));
  checker.barrier();
  std::vector<std::uint8_t> foreign(64, 0x11);
  for (const WrongPlace& place : wrong_places(checker, object, foreign.data())) {
    for (const Operation& operation : operations) {
      if (operation.fixed_bytes != 0 && place.size_bytes > operation.fixed_bytes) continue;
      // The end must be missed by smaller words too.
      std::uint8_t* const remote = operation.fixed_bytes == 4 && place.remote == object.data() + object_bytes - 7
                                       ? place.remote + 4
                                       : place.remote;
      const int code = operation.call({remote, host.data(), place.size_bytes, signal.as<std::uint64_t>(), place.pe});
      checker.is_refused(code, EINVAL, cli::format("%s at %s", operation.name, place.name.c_str()));
    }
  }
  check_words(checker, object);
  (void)checker.succeeds(gdrkit_shmem_put(object.data(), host.data(), 0, checker.neighbour(1)), "put of 0 bytes");
  checker.barrier();
  std::vector<std::uint8_t> after(object_bytes);
  checker.read(after.data(), object.data(), object_bytes);
  checker.compare(&after, before, "refused calls: the object");
  checker.demand(host == host_before, "refused gets wrote to their local memory");
  checker.demand(checker.read_value(signal.as<std::uint64_t>()) == 0, "refused calls wrote the signal");
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
