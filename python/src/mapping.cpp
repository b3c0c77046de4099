// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "mapping.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>

#include "errors.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace nb = nanobind;

namespace gdrkit_python {
namespace {

// Below these sizes a copy by the CPU takes about a microsecond, and giving up the GIL would cost as much.
constexpr std::size_t writes_with_gil_bytes = 16 * 1024;
constexpr std::size_t reads_with_gil_bytes = 1024;

constexpr auto between_signal_checks = std::chrono::milliseconds(20);

/// Pushes the stores that this thread made through a memoryview or NumPy array of a mapping out of the core's
/// write-combining buffers: the GPU that then sees a flag stored after it sees them too. It pairs with the GPU's
/// acquiring load of that flag.
void store_fence() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("sync" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// ETIMEDOUT of an engine: the GPU may still write to the memory, which is therefore never freed.
bool leaves_memory_in_use(const gdrkit::Error& error) { return error.code().value() == ETIMEDOUT; }

std::uint64_t load_bits(const gdrkit::Mapping& map, std::size_t offset, unsigned size_bytes) {
  switch (size_bytes) {
    case 1: return map.load_flag<std::uint8_t>(offset);
    case 2: return map.load_flag<std::uint16_t>(offset);
    case 4: return map.load_flag<std::uint32_t>(offset);
    default: return map.load_flag<std::uint64_t>(offset);
  }
}

void store_bits(gdrkit::Mapping& map, std::size_t offset, unsigned size_bytes, std::uint64_t bits) {
  switch (size_bytes) {
    case 1: return map.store_flag<std::uint8_t>(offset, static_cast<std::uint8_t>(bits));
    case 2: return map.store_flag<std::uint16_t>(offset, static_cast<std::uint16_t>(bits));
    case 4: return map.store_flag<std::uint32_t>(offset, static_cast<std::uint32_t>(bits));
    default: return map.store_flag<std::uint64_t>(offset, bits);
  }
}

using Clock = std::chrono::steady_clock;

Clock::time_point deadline_of(const std::optional<double>& timeout) {
  if (!timeout) return Clock::time_point::max();
  if (std::isnan(*timeout) || *timeout < 0)
    throw nb::value_error("invalid timeout: it is negative or not a number; use 0 or more seconds");
  constexpr double longest = 1e9;  // s; longer timeouts never end
  if (*timeout > longest) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*timeout));
}

}  // namespace

Mapping::Mapping(nb::object context, std::uint64_t address, std::size_t size_bytes, nb::object owner,
                 const Options& options)
    : context_(std::move(context)),
      owner_(std::move(owner)),
      size_bytes_(size_bytes),
      is_readonly_(options.is_readonly),
      has_engine_(options.map.engine != gdrkit::Engine::unspecified && options.map.engine != gdrkit::Engine::cpu) {
  const gdrkit::Context& from = nb::cast<Context&>(context_).get();
  const nb::gil_scoped_release released;
  pin_.emplace(from.pin(address, size_bytes));
  map_.emplace(pin_->map(options.map));
}

Mapping::~Mapping() {
  // Unmapping waits for an engine's copies, which an error left behind.
  const nb::gil_scoped_release released;
  map_.reset();
  pin_.reset();
}

const gdrkit::Mapping& Mapping::map() const {
  if (is_closed()) throw nb::value_error("cannot use the mapping: it is closed");
  return *map_;
}

gdrkit::Mapping& Mapping::map() {
  if (is_closed()) throw nb::value_error("cannot use the mapping: it is closed");
  return *map_;
}

const gdrkit::Pin& Mapping::pin() const {
  if (is_closed()) throw nb::value_error("cannot use the mapping: it is closed");
  return *pin_;
}

void Mapping::begin_use() noexcept {
  ++uses_;
  context().begin_use();
}

void Mapping::end_use() noexcept {
  --uses_;
  context().end_use();
}

void Mapping::require_writable() const {
  if (is_readonly_)
    throw nb::type_error("cannot write to the mapping: it is read-only; map the array with readonly=False");
}

void Mapping::write(long long offset, nb::handle data) {
  HostBytes source(data, HostBytes::Access::read);
  gdrkit::Mapping& to = map();
  require_writable();
  order_views();
  const std::size_t at = offset_of(offset);
  if (!has_engine_ && source.bytes().size() <= writes_with_gil_bytes) return to.write(at, source.bytes());
  const Use use(*this);
  try {
    const nb::gil_scoped_release released;
    to.write(at, source.bytes());
  } catch (const gdrkit::Error& error) {
    if (leaves_memory_in_use(error)) source.abandon();
    throw;
  }
}

void Mapping::copy_out(std::size_t offset, std::span<std::byte> target) {
  const gdrkit::Mapping& from = map();
  if (!has_engine_ && target.size() <= reads_with_gil_bytes) return from.read(offset, target);
  const Use use(*this);
  const nb::gil_scoped_release released;
  from.read(offset, target);
}

nb::bytes Mapping::read(long long offset, std::size_t size_bytes) {
  const std::size_t at = offset_of(offset);
  if (at > size() || size_bytes > size() - at) {
    // The library's own check, before memory for the result is allocated.
    map().read(at, std::span<std::byte>(static_cast<std::byte*>(nullptr), size_bytes));
  }
  nb::bytes result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size_bytes)));
  if (!result.is_valid()) nb::raise_python_error();
  const std::span<char> target(PyBytes_AsString(result.ptr()), size_bytes);
  try {
    copy_out(at, std::as_writable_bytes(target));
  } catch (const gdrkit::Error& error) {
    if (leaves_memory_in_use(error)) (void)nb::object(result).release();
    throw;
  }
  return result;
}

void Mapping::read_into(long long offset, nb::handle target) {
  HostBytes into(target, HostBytes::Access::write);
  try {
    copy_out(offset_of(offset), into.bytes());
  } catch (const gdrkit::Error& error) {
    if (leaves_memory_in_use(error)) into.abandon();
    throw;
  }
}

void Mapping::store_flag(long long offset, nb::handle value, nb::handle dtype) {
  const FlagType& type = FlagType::of(dtype);
  const std::uint64_t bits = type.bits_of(value);
  gdrkit::Mapping& to = map();
  require_writable();
  order_views();
  store_bits(to, offset_of(offset), type.size_bytes(), bits);
}

nb::object Mapping::load_flag(long long offset, nb::handle dtype) const {
  const FlagType& type = FlagType::of(dtype);
  return type.value_of(load_bits(map(), offset_of(offset), type.size_bytes()));
}

nb::object Mapping::wait_flag(long long offset, nb::handle value, std::optional<double> timeout, nb::handle dtype,
                              const char* comparison) {
  const FlagType& type = FlagType::of(dtype);
  const Comparison condition(comparison);
  const std::uint64_t bits = type.bits_of(value);
  const std::size_t at = offset_of(offset);
  const Clock::time_point deadline = deadline_of(timeout);
  const gdrkit::Mapping& from = map();
  const Use use(*this);
  while (true) {
    std::uint64_t seen = 0;
    {
      const nb::gil_scoped_release released;
      const Clock::time_point next_check = Clock::now() + between_signal_checks;
      const Clock::time_point end = deadline < next_check ? deadline : next_check;
      do {
        seen = load_bits(from, at, type.size_bytes());
      } while (!condition.holds(type.compare(seen, bits)) && Clock::now() < end);
    }
    if (condition.holds(type.compare(seen, bits))) return type.value_of(seen);
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (Clock::now() >= deadline) {
      nb::str text = nb::str("the {} at offset {} did not satisfy {} {} within {} s: its value is {}")
                         .format(type.name(), at, comparison, value, *timeout, type.value_of(seen));
      throw TimedOut{text.c_str()};
    }
  }
}

void Mapping::write_segments(nb::handle segments) {
  Segments all(segments, HostBytes::Access::read);
  gdrkit::Mapping& to = map();
  require_writable();
  order_views();
  const Use use(*this);
  try {
    const nb::gil_scoped_release released;
    to.write_segments(all.to_write());
  } catch (const gdrkit::Error& error) {
    if (leaves_memory_in_use(error)) all.abandon();
    throw;
  }
}

void Mapping::read_segments(nb::handle segments) {
  Segments all(segments, HostBytes::Access::write);
  const gdrkit::Mapping& from = map();
  const Use use(*this);
  try {
    const nb::gil_scoped_release released;
    from.read_segments(all.to_read());
  } catch (const gdrkit::Error& error) {
    if (leaves_memory_in_use(error)) all.abandon();
    throw;
  }
}

void Mapping::flush() const { store_fence(); }

void Mapping::close() {
  if (uses_ != 0) {
    PyErr_Format(PyExc_BufferError,
                 "cannot close the mapping: memoryviews, copies or calls still use the mapping (number of uses: %zu); "
                 "release or finish all of them first",
                 uses_);
    nb::raise_python_error();
  }
  if (!map_) return;
  gdrkit::Mapping map = std::move(*map_);
  gdrkit::Pin pin = std::move(*pin_);
  map_.reset();
  pin_.reset();
  const bool is_gone_with_context = context().is_closed();
  const nb::object owner = std::move(owner_);  // freed after the memory is unmapped
  owner_ = nb::none();
  const nb::gil_scoped_release released;
  if (is_gone_with_context) return;
  map.unmap();
  pin.unpin();
}

Segments::Segments(nb::handle list, HostBytes::Access access) {
  for (nb::handle item : list) {
    long long offset = 0;
    if (!nb::isinstance<nb::tuple>(item) || nb::len(item) != 2 || !nb::try_cast(nb::object(item[0]), offset)) {
      throw nb::type_error("invalid segment; pass a tuple (offset, memory)");
    }
    memory_.emplace_back(nb::object(item[1]), access);
    const std::span<std::byte> bytes = memory_.back().bytes();
    if (access == HostBytes::Access::read) {
      to_write_.push_back({offset_of(offset), bytes.data(), bytes.size()});
    } else {
      to_read_.push_back({offset_of(offset), bytes.data(), bytes.size()});
    }
  }
}

void Segments::abandon() noexcept {
  for (HostBytes& memory : memory_) memory.abandon();
}

}  // namespace gdrkit_python
