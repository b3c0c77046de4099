// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "fakes/recording/ioctl_words.hpp"
#include "fakes/recording/transcript_state.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

using Kind = CanonicalNames::Kind;

class TranscriptSystem final : public driver::System {
 public:
  explicit TranscriptSystem(Transcript::State& state)
      : state_(state), inner_(state.inner_system), names_(state.names) {}

  int open(const char* path, int flags) noexcept override {
    int real = -1;
    const int named = exchange("open", Words().add("path", std::string(path)).add("flags", bits(flags)), [&] {
      real = inner_->open(path, flags);
      return real >= 0 ? names_.descriptor(real) : real;
    });
    if (!state_.is_replay()) return real;
    return named >= 0 ? names_.descriptor(named) : named;
  }
  int close(int fd) noexcept override {
    const int result =
        exchange("close", Words().add_signed("fd", names_.descriptor(fd)), [&] { return inner_->close(fd); });
    names_.forget(Kind::descriptor, static_cast<std::uint32_t>(fd));
    return result;
  }
  int ioctl(int fd, unsigned long request, void* argument) noexcept override {
    Words arguments;
    arguments.add_signed("fd", names_.descriptor(fd))
        .add("request", std::uint64_t{request})
        .add("name", ioctl_name(request));
    add_ioctl_bytes(arguments, request, argument, names_);
    const auto make = [&] { return inner_->ioctl(fd, request, argument); };
    return exchange("ioctl", arguments, make, [&](Words& words, int) {
      if (state_.is_replay()) write_ioctl_bytes(words, request, argument);
      // In a replay only to name the numbers in the result in the order of the recording.
      add_ioctl_bytes(words, request, argument, names_);
      if (state_.is_replay()) state_.view.saw_ioctl(request, argument);
      // BAR1 addresses may be reused after they are unmapped.
      if (_IOC_NR(request) == command::rm_unmap) names_.forget(Kind::bar1_address, get<std::uint64_t>(argument, 16));
    });
  }
  int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override {
    const Words arguments = Words()
                                .add("wanted", names_.mapping(hint))
                                .add("length", std::uint64_t{length})
                                .add("protection", bits(protection))
                                .add("flags", bits(flags))
                                .add_signed("fd", names_.descriptor(fd))
                                .add_signed("offset", offset);
    const auto make = [&] { return inner_->mmap(hint, length, protection, flags, fd, offset, mapped); };
    int failed = 0;
    const int result = exchange("mmap", arguments, make, [&](Words& words, int done) {
      if (done != 0) return;
      if (state_.is_replay()) {
        const int kind = (flags & ~(MAP_SHARED | MAP_PRIVATE)) | MAP_PRIVATE | MAP_ANONYMOUS;
        void* const made = ::mmap(hint, length, protection, kind, -1, 0);
        if (made == MAP_FAILED) {
          failed = -errno;
          return;
        }
        *mapped = made;
        if (fd >= 0) state_.view.saw_mmap(fd, made, length);
      }
      names_.add_mapping(*mapped, length);
      words.add("mapped", names_.mapping(*mapped));
    });
    return failed != 0 ? failed : result;
  }
  int munmap(void* address, std::size_t length) noexcept override {
    const int result = exchange("munmap", range(address, length), [&] { return inner_->munmap(address, length); });
    if (result != 0) return result;
    names_.remove_mapping(address);
    if (!state_.is_replay()) return result;
    state_.view.saw_munmap(address, length);
    return ::munmap(address, length) == 0 ? 0 : -errno;
  }
  int access(const char* path, int mode) noexcept override {
    return exchange("access", Words().add("path", std::string(path)).add("mode", bits(mode)),
                    [&] { return inner_->access(path, mode); });
  }
  int madvise(void* address, std::size_t length, int advice) noexcept override {
    return exchange("madvise", range(address, length).add("advice", bits(advice)),
                    [&] { return inner_->madvise(address, length, advice); });
  }
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override {
    const Words arguments = Words().add("path", std::string(path)).add("capacity", std::uint64_t{capacity});
    const auto make = [&] { return inner_->read_text(path, buffer, capacity); };
    return state_.exchange("sys.read_text", arguments, ssize_t{-EIO}, make, [&](Words& words, ssize_t result) {
      if (!state_.is_replay()) {
        if (result >= 0) words.add_bytes("text", buffer, static_cast<std::size_t>(result));
        return;
      }
      const auto text = words.bytes("text");
      if (text.size() >= capacity) return;
      std::copy(text.begin(), text.end(), buffer);
      buffer[text.size()] = '\0';
    });
  }

 private:
  static std::uint64_t bits(int flags) { return static_cast<unsigned>(flags); }
  [[nodiscard]] Words range(const void* address, std::size_t length) const {
    return Words().add("address", names_.mapping(address)).add("length", std::uint64_t{length});
  }
  template <class Make, class Output>
  int exchange(const std::string& call, const Words& arguments, Make make, Output output) {
    return state_.exchange("sys." + call, arguments, -EIO, make, output);
  }
  template <class Make>
  int exchange(const std::string& call, const Words& arguments, Make make) {
    return exchange(call, arguments, make, [](Words&, int) {});
  }

  Transcript::State& state_;
  driver::System* const inner_;
  CanonicalNames& names_;
};

}  // namespace

std::unique_ptr<driver::System> make_system(Transcript::State& state) {
  return std::make_unique<TranscriptSystem>(state);
}

}  // namespace gdrkit::fakes
