// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <poll.h>

#include <cinttypes>
#include <new>
#include <optional>

#include "shmem/bootstrap/pe_list.hpp"
#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/star_gathering.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

/// Limit of a part with an unexpected size, which is read to keep the stream in step.
constexpr std::uint64_t largest_other_part = std::uint64_t{1} << 30;

class StarCentre final : public Star {
 public:
  StarCentre(std::vector<StarPeer> peers, StarGroup group) : peers_(std::move(peers)), group_(std::move(group)) {}

  base::Status allgather(const StarStep& step) noexcept override {
    if (broken_) return tl::unexpected<base::Error>(*broken_);
    if (peers_.size() > 1 && !peers_[1].socket) return fail_forked();
    try {
      const Deadline deadline(group_.limit);
      for (StarPeer& peer : peers_) peer.begin_step();
      auto done = gather(step, deadline);
      if (!done) {
        broken_ = done.error();
      } else if (done = compare(step); done) {
        deliver(step, deadline);
        return done;
      }
      send_failure(done.error(), broken_.has_value(), &peers_);
      return done;
    } catch (const std::bad_alloc&) {
      auto error = base::fail_literal(ENOMEM, "out of memory while exchanging data with the other PEs");
      broken_ = error.value();
      send_failure(*broken_, true, &peers_);
      return error;
    }
  }

 private:
  /// Until all parts are there. Members that sent theirs are watched too: their end is the end of the step.
  base::Status gather(const StarStep& step, const Deadline& deadline) {
    if (step.size_bytes > 0 && step.all != step.mine) std::memcpy(step.all, step.mine, step.size_bytes);
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      if (peers_[i].end != 0) return lost(step, i, ECONNRESET);
    }
    for (std::size_t missing = peers_.size() - 1; missing > 0;) {
      std::vector<pollfd> entries;
      for (const StarPeer& peer : peers_) entries.push_back({peer.socket.get(), POLLIN, 0});
      const int ready = ::poll(entries.data(), entries.size(), deadline.poll_ms());
      if (ready < 0 && errno != EINTR)
        return base::fail(errno, "cannot exchange data with the other PEs during '%s': poll failed: %s", step.name,
                          std::strerror(errno));
      if (ready <= 0 && deadline.has_passed()) return absent(step, deadline);
      for (std::size_t i = 1; ready > 0 && i < peers_.size(); ++i) {
        if (entries[i].revents == 0) continue;
        const bool had_part = peers_[i].has_part;
        const IoEnd end = read_part(step, i);
        if (end != 0 && end != EAGAIN) return lost(step, i, end);
        if (!had_part && peers_[i].has_part) --missing;
      }
    }
    return {};
  }

  IoEnd read_part(const StarStep& step, std::size_t position) {
    StarPeer& peer = peers_[position];
    if (peer.has_part) {
      // The member waits for the reply now, so readable data means the end of the connection.
      char byte = 0;
      std::size_t done = 0;
      const IoEnd end = read_some(peer.socket.get(), &byte, 1, &done);
      return end == 0 ? EPROTO : end;
    }
    if (peer.read < sizeof peer.frame) {
      const IoEnd end = read_some(peer.socket.get(), &peer.frame, sizeof peer.frame, &peer.read, &peer.fds);
      if (end != 0) return end;
      if (!peer.frame.is_sound() || peer.frame.kind != FrameKind::part) return EPROTO;
      if (peer.frame.size_bytes > largest_other_part && peer.frame.size_bytes != step.size_bytes) return EPROTO;
      if (peer.frame.size_bytes != step.size_bytes) peer.other.resize(peer.frame.size_bytes);
    }
    const bool is_expected = peer.frame.size_bytes == step.size_bytes;
    char* const target = is_expected ? static_cast<char*>(step.all) + position * step.size_bytes : peer.other.data();
    std::size_t of_part = peer.read - sizeof peer.frame;
    IoEnd end = read_some(peer.socket.get(), target, peer.frame.size_bytes, &of_part);
    peer.read = sizeof peer.frame + of_part;
    if (end != 0) return end;
    FrameCode& codes = peer.codes.to_centre;
    end = read_some(peer.socket.get(), &peer.code, codes.size_bytes(), &peer.read_of_code);
    if (end != 0) return end;
    const secret::Bytes payload{reinterpret_cast<const std::uint8_t*>(target), peer.frame.size_bytes};
    peer.has_part = secret::are_equal(codes.next(peer.frame, payload), peer.code);
    return peer.has_part ? 0 : EBADMSG;
  }

  base::Status absent(const StarStep& step, const Deadline& deadline) const {
    std::vector<int> pes;
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      if (!peers_[i].has_part) pes.push_back(group_.pes[i]);
    }
    return base::fail(
        ETIMEDOUT,
        "cannot exchange data with the other PEs during '%s': %s did not take part within %s; see the output of the "
        "missing PEs, or raise the limit (GDRKIT_SHMEM_TIMEOUT_S, or timeout_ms in the program's options)",
        step.name, pe_list_text(pes).c_str(), deadline.limit_text().c_str());
  }

  base::Status lost(const StarStep& step, std::size_t position, IoEnd end) {
    // This member also receives the error, unless its connection has ended.
    if (end != EMFILE && end != EPROTO && end != EBADMSG) peers_[position].socket.close();
    const int pe = group_.pes[position];
    if (end == EMFILE) {
      return base::fail(EMFILE,
                        "cannot exchange data with the other PEs during '%s': PE %d has too many open files to receive "
                        "the file descriptor of PE %d; raise ulimit -n",
                        step.name, group_.pes.front(), pe);
    }
    if (end == EPROTO) {
      return base::fail(EPROTO,
                        "cannot exchange data with the other PEs during '%s': PE %d sent an invalid message; use one "
                        "release of gdrkit for all PEs",
                        step.name, pe);
    }
    if (end == EBADMSG) {
      return base::fail(EPROTO,
                        "cannot exchange data with the other PEs during '%s': the data from PE %d was changed on the "
                        "way (wrong authentication code); %s",
                        step.name, pe, remedy_of_wrong_code);
    }
    return base::fail(
        ECONNRESET,
        "cannot exchange data with the other PEs during '%s': PE %d has left the job; see the error message of PE %d",
        step.name, pe, pe);
  }

  base::Status compare(const StarStep& step) const {
    Frame own;
    own.set_step(step.name);
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      const Frame& frame = peers_[i].frame;
      const bool expects_fds = (frame.flags & frame_expects_fds) != 0;
      if (frame.size_bytes == step.size_bytes && std::strcmp(frame.step, own.step) == 0 &&
          expects_fds == (step.fds != nullptr)) {
        continue;
      }
      return base::fail(EPROTO,
                        "the PEs make different calls: PE %d exchanges %" PRIu64
                        " bytes for '%s', but PE %d exchanges %zu bytes for '%s'; make the same calls in the same "
                        "order on all PEs",
                        group_.pes[i], frame.size_bytes, frame.step, group_.pes.front(), step.size_bytes, own.step);
    }
    return {};
  }

  /// The step is complete. A member that does not receive the reply is reported in the next step.
  void deliver(const StarStep& step, const Deadline& deadline) {
    const Reply reply = make_reply(step);
    for (;;) {
      std::vector<pollfd> entries;
      int wait_ms = deadline.poll_ms();
      for (std::size_t i = 1; i < peers_.size(); ++i) {
        StarPeer& peer = peers_[i];
        if (peer.has_all || peer.end != 0) continue;
        const IoEnd end = write_reply(reply, step, i);
        if (end == EAGAIN) {
          entries.push_back({peer.socket.get(), POLLOUT, 0});
        } else if (end == ETOOMANYREFS) {
          // Too many descriptors are on their way: until the receivers have taken some.
          wait_ms = std::min(wait_ms, 1);
          entries.push_back({-1, 0, 0});
        } else if (end != 0) {
          peer.end = end;
        }
      }
      if (entries.empty()) break;
      ::poll(entries.data(), entries.size(), wait_ms);
      if (!deadline.has_passed()) continue;
      for (std::size_t i = 1; i < peers_.size(); ++i) {
        if (!peers_[i].has_all && peers_[i].end == 0) peers_[i].end = ETIMEDOUT;
      }
    }
    if (step.fds != nullptr) keep_fds(step);
  }

  struct Reply {
    Frame frame;
    std::vector<unsigned char> has_fd;
    std::vector<int> fds;  ///< by position, -1: none
  };

  Reply make_reply(const StarStep& step) const {
    Reply reply;
    reply.frame.kind = FrameKind::all;
    reply.frame.size_bytes = peers_.size() * step.size_bytes;
    reply.frame.set_step(step.name);
    if (step.fds == nullptr) return reply;
    reply.fds.push_back(step.fd);
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      reply.fds.push_back(peers_[i].fds.empty() ? -1 : peers_[i].fds.front().get());
    }
    for (const int fd : reply.fds) reply.has_fd.push_back(fd >= 0 ? 1 : 0);
    return reply;
  }

  IoEnd write_reply(const Reply& reply, const StarStep& step, std::size_t position) {
    StarPeer& peer = peers_[position];
    FrameCode& codes = peer.codes.to_member;
    if (!peer.has_code_out) {
      peer.code_out = codes.next(reply.frame, {static_cast<const std::uint8_t*>(step.all), reply.frame.size_bytes});
    }
    peer.has_code_out = true;
    const struct {
      const void* data;
      std::size_t size;
    } pieces[] = {{&reply.frame, sizeof reply.frame},
                  {step.all, reply.frame.size_bytes},
                  {&peer.code_out, codes.size_bytes()},
                  {reply.has_fd.data(), reply.has_fd.size()}};
    std::size_t begin = 0;
    for (const auto& piece : pieces) {
      if (peer.written < begin + piece.size) {
        std::size_t done = peer.written - begin;
        const IoEnd end = write_some(peer.socket.get(), piece.data, piece.size, &done);
        peer.written = begin + done;
        if (end != 0) return end;
      }
      begin += piece.size;
    }
    std::vector<int> fds;
    for (std::size_t i = 0; i < reply.fds.size(); ++i) {
      if (i != position && reply.fds[i] >= 0) fds.push_back(reply.fds[i]);
    }
    for (std::size_t next; (next = peer.messages * fds_per_message) < fds.size(); ++peer.messages) {
      const char mark = 1;
      std::size_t done = 0;
      const std::span<const int> some(fds.data() + next, std::min(fds_per_message, fds.size() - next));
      if (const IoEnd end = write_some(peer.socket.get(), &mark, 1, &done, some); end != 0) return end;
    }
    peer.has_all = true;
    return 0;
  }

  void keep_fds(const StarStep& step) {
    step.fds->clear();
    step.fds->resize(peers_.size());
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      if (!peers_[i].fds.empty()) (*step.fds)[i] = std::move(peers_[i].fds.front());
      peers_[i].fds.clear();
    }
  }

  std::vector<StarPeer> peers_;  // by position; the first is this PE itself and empty
  StarGroup group_;
  std::optional<base::Error> broken_;
};

}  // namespace

base::Result<std::unique_ptr<Star>> make_star_centre(base::UniqueFd listener, StarGroup group) noexcept try {
  std::vector<StarPeer> peers;
  const PrivateFd own(std::move(listener));
  if (auto came = accept_members(own.get(), group, &peers); !came) return base::pass(came);
  return std::make_unique<StarCentre>(std::move(peers), std::move(group));
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while accepting the PEs of the job");
}

}  // namespace gdrkit::shmem_impl::bootstrap
