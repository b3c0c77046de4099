// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <poll.h>

#include <algorithm>
#include <cinttypes>
#include <new>
#include <optional>
#include <thread>

#include "shmem/bootstrap/private_fd.hpp"
#include "shmem/bootstrap/socket_io.hpp"
#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/star_wire.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_failure_text = 2048;

class StarMember final : public Star {
 public:
  StarMember(PrivateFd socket, const FrameCodes& codes, StarGroup group)
      : socket_(std::move(socket)), codes_(codes), group_(std::move(group)) {}

  base::Status allgather(const StarStep& step) noexcept override {
    if (broken_) return tl::unexpected<base::Error>(*broken_);
    if (!socket_) return fail_forked();
    try {
      const Deadline deadline = patience();
      if (auto sent = send_part(step, deadline); !sent) return sent;
      return receive(step, deadline);
    } catch (const std::bad_alloc&) {
      return broken(base::fail_literal(ENOMEM, "out of memory while exchanging data with the other PEs"));
    }
  }

  /// Waits until all PEs have joined. `reply` is the first frame of the centre.
  base::Status join(const Frame& reply) {
    const Deadline deadline = patience();
    if (reply.kind == FrameKind::failure) return take_failure(reply, "joining the job", deadline);
    if (auto well = check_code(reply, {}, "joining the job", deadline); !well) return well;
    Frame go;
    if (auto came = await(FrameKind::go, "joining the job", deadline, &go); !came) return came;
    return check_code(go, {}, "joining the job", deadline);
  }

 private:
  /// Reads the code of a frame. Nothing of the frame or its payload may be used before.
  base::Status check_code(const Frame& frame, secret::Bytes payload, const char* step, const Deadline& deadline) {
    secret::Tag code{};
    if (const IoEnd end = read_all(socket_.get(), &code, codes_.to_member.size_bytes(), deadline); end != 0) {
      return lost(end, step, deadline);
    }
    if (secret::are_equal(codes_.to_member.next(frame, payload), code)) return {};
    return broken(base::fail(EPROTO,
                             "cannot exchange data with the other PEs during '%s': the data from PE %d at %s was "
                             "changed on the way (wrong authentication code); %s",
                             step, centre(), group_.where.c_str(), remedy_of_wrong_code));
  }

  /// Reads a frame. Its payload and code follow.
  base::Status await(FrameKind kind, const char* step, const Deadline& deadline, Frame* frame) {
    if (const IoEnd end = read_all(socket_.get(), frame, sizeof *frame, deadline); end != 0) {
      return lost(end, step, deadline);
    }
    if (frame->is_sound() && frame->kind == FrameKind::failure) return take_failure(*frame, step, deadline);
    if (frame->is_sound() && frame->kind == kind) return {};
    return broken(base::fail(EPROTO,
                             "cannot exchange data with the other PEs during '%s': PE %d at %s sent an invalid "
                             "message; use one release of gdrkit for all PEs",
                             step, centre(), group_.where.c_str()));
  }

  /// The centre's limit plus up to one second, because the centre reports the missing PEs.
  [[nodiscard]] Deadline patience() const noexcept {
    return Deadline(group_.limit + std::min<std::chrono::milliseconds>(group_.limit / 4, std::chrono::seconds(1)));
  }
  [[nodiscard]] int centre() const { return group_.pes.front(); }

  base::Status broken(tl::unexpected<base::Error> error) {
    broken_ = error.value();
    return error;
  }

  base::Status lost(IoEnd end, const char* step, const Deadline& deadline) {
    switch (end) {
      case ETIMEDOUT:
        return broken(base::fail(ETIMEDOUT,
                                 "cannot exchange data with the other PEs during '%s': PE %d at %s did not reply "
                                 "within %s; see the output of all PEs",
                                 step, centre(), group_.where.c_str(), deadline.limit_text().c_str()));
      case ECONNRESET:
        return broken(base::fail(ECONNRESET,
                                 "cannot exchange data with the other PEs during '%s': PE %d at %s has left the job; "
                                 "see the error message of PE %d",
                                 step, centre(), group_.where.c_str(), centre()));
      case EMFILE:
        return broken(base::fail(EMFILE,
                                 "cannot exchange data with the other PEs during '%s': this PE has too many open files "
                                 "to receive %zu file descriptors; raise ulimit -n",
                                 step, group_.pes.size() - 1));
      default:
        return broken(base::fail(
            end, "cannot exchange data with the other PEs during '%s': the connection to PE %d at %s failed: %s", step,
            centre(), group_.where.c_str(), std::strerror(end)));
    }
  }

  base::Status take_failure(const Frame& frame, const char* step, const Deadline& deadline) {
    std::string text(std::min<std::uint64_t>(frame.size_bytes, longest_failure_text), '\0');
    if (const IoEnd end = read_all(socket_.get(), text.data(), text.size(), deadline); end != 0) {
      return lost(end, step, deadline);
    }
    if (auto well = check_code(frame, secret::bytes_of(std::string_view(text)), step, deadline); !well) return well;
    auto error = base::fail(errno_of_peer(frame.error), "%s", text.c_str());
    if ((frame.flags & frame_is_final) == 0) return error;
    return broken(std::move(error));
  }

  /// While the centre does not read, it may have failed: what it sends ends the writing.
  base::Status send_part(const StarStep& step, const Deadline& deadline) {
    Frame frame;
    frame.kind = FrameKind::part;
    frame.size_bytes = step.size_bytes;
    frame.flags = (step.fd >= 0 ? frame_has_fd : 0) | (step.fds != nullptr ? frame_expects_fds : 0);
    frame.set_step(step.name);
    const std::span<const int> fds(&step.fd, step.fd >= 0 ? 1 : 0);
    const secret::Tag code =
        codes_.to_centre.next(frame, {static_cast<const std::uint8_t*>(step.mine), step.size_bytes});
    std::size_t of_frame = 0;
    std::size_t of_part = 0;
    std::size_t of_code = 0;
    const auto write_next = [&] {
      IoEnd end = write_some(socket_.get(), &frame, sizeof frame, &of_frame, fds);
      if (end == 0) end = write_some(socket_.get(), step.mine, step.size_bytes, &of_part);
      return end != 0 ? end : write_some(socket_.get(), &code, codes_.to_centre.size_bytes(), &of_code);
    };
    for (;;) {
      const IoEnd end = write_next();
      // The centre may have sent the cause before it closed: receive() reads that first.
      if (end == 0 || end == ECONNRESET) return {};
      if (end != EAGAIN && end != ETOOMANYREFS) return lost(end, step.name, deadline);
      short happened = 0;
      if (end == ETOOMANYREFS) {
        std::this_thread::sleep_for(1ms);  // the receivers make room
        if (deadline.has_passed()) return lost(ETIMEDOUT, step.name, deadline);
        continue;
      }
      const IoEnd waited = wait_for(socket_.get(), POLLIN | POLLOUT, deadline, &happened);
      if (waited != 0) return lost(waited, step.name, deadline);
      if ((happened & POLLIN) != 0) return {};
    }
  }

  base::Status receive(const StarStep& step, const Deadline& deadline) {
    Frame frame;
    if (auto came = await(FrameKind::all, step.name, deadline, &frame); !came) return came;
    const std::size_t count = group_.pes.size();
    if (frame.size_bytes != count * step.size_bytes) {
      return broken(base::fail(EPROTO,
                               "cannot exchange data with the other PEs during '%s': PE %d sent %" PRIu64
                               " bytes instead of %zu bytes; use one release of gdrkit for all PEs",
                               step.name, centre(), frame.size_bytes, count * step.size_bytes));
    }
    // Straight into the caller's memory: after a failure here the star is broken, and so is the caller's job.
    if (const IoEnd end = read_all(socket_.get(), step.all, frame.size_bytes, deadline); end != 0) {
      return lost(end, step.name, deadline);
    }
    const secret::Bytes payload{static_cast<const std::uint8_t*>(step.all), frame.size_bytes};
    if (auto well = check_code(frame, payload, step.name, deadline); !well) return well;
    return step.fds == nullptr ? base::Status{} : receive_fds(step, deadline);
  }

  base::Status receive_fds(const StarStep& step, const Deadline& deadline) {
    std::vector<unsigned char> has_fd(group_.pes.size());
    if (const IoEnd end = read_all(socket_.get(), has_fd.data(), has_fd.size(), deadline); end != 0) {
      return lost(end, step.name, deadline);
    }
    has_fd[static_cast<std::size_t>(group_.position)] = 0;
    const auto expected = static_cast<std::size_t>(std::count(has_fd.begin(), has_fd.end(), 1));
    std::vector<base::UniqueFd> came;
    while (came.size() < expected) {
      char mark = 0;
      const std::size_t before = came.size();
      if (const IoEnd end = read_all(socket_.get(), &mark, 1, deadline, &came); end != 0) {
        return lost(end, step.name, deadline);
      }
      if (came.size() == before) return lost(EPROTO, step.name, deadline);
    }
    step.fds->clear();
    step.fds->resize(has_fd.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < has_fd.size(); ++i) {
      if (has_fd[i] == 1) (*step.fds)[i] = std::move(came[next++]);
    }
    return {};
  }

  PrivateFd socket_;
  FrameCodes codes_;
  StarGroup group_;
  std::optional<base::Error> broken_;
};

base::Result<Hello> make_hello(int pe, int n_pes) noexcept {
  const auto nonce = make_token();
  if (!nonce) return base::pass(nonce);
  Hello hello;
  std::memcpy(hello.magic, star_magic, sizeof hello.magic);
  hello.version = star_version;
  hello.pe = static_cast<std::uint32_t>(pe);
  hello.n_pes = static_cast<std::uint32_t>(n_pes);
  hello.nonce = *nonce;
  return hello;
}

IoEnd write_all(int socket, const void* data, std::size_t size_bytes, const Deadline& deadline) {
  std::size_t done = 0;
  for (;;) {
    IoEnd end = wait_for(socket, POLLOUT, deadline);
    if (end == 0) end = write_some(socket, data, size_bytes, &done);
    if (end != EAGAIN) return end;
  }
}

IoEnd read_welcome(int socket, const Deadline& deadline, Frame* reply) {
  if (const IoEnd end = read_all(socket, reply, sizeof *reply, deadline); end != 0) return end;
  const bool is_known = reply->kind == FrameKind::welcome || reply->kind == FrameKind::failure;
  return reply->is_sound() && is_known ? 0 : ECONNRESET;
}

/// ECONNRESET: the other end does not have the secret, rejected this PE, or is another program.
IoEnd introduce(int socket, const StarGroup& group, const Hello& hello, const Deadline& deadline, FrameCodes* codes,
                Frame* reply) {
  if (!group.is_introduced) {
    if (const IoEnd end = write_all(socket, &hello, sizeof hello, deadline); end != 0) return end;
  }
  if (group.is_trusted != nullptr) return read_welcome(socket, deadline, reply);
  Challenge challenge;
  if (const IoEnd end = read_all(socket, &challenge, sizeof challenge, deadline); end != 0) return end;
  const secret::Digest expected = proof_of_centre(group.secret, hello, challenge.nonce);
  if (!has_star_magic(challenge.magic) || !secret::are_equal(challenge.proof, expected)) return ECONNRESET;
  *codes = FrameCodes(group.secret, hello, challenge.nonce);
  const secret::Digest proof = proof_of_member(group.secret, hello, challenge.nonce);
  if (const IoEnd end = write_all(socket, &proof, sizeof proof, deadline); end != 0) return end;
  return read_welcome(socket, deadline, reply);
}

}  // namespace

base::Status introduce_member(int socket, const secret::Key& secret, int pe, int n_pes) {
  auto hello = make_hello(pe, n_pes);
  if (!hello) return base::pass(hello);
  hello->nonce = group_name(secret);
  std::size_t done = 0;
  // A new connection takes as much at once.
  if (const IoEnd end = write_some(socket, &*hello, sizeof *hello, &done); end != 0) {
    return base::fail(end, "the connection ended: %s", std::strerror(end));
  }
  return {};
}

base::Result<std::unique_ptr<Star>> make_star_member(const StarConnect& connect, StarGroup group) noexcept try {
  const Deadline deadline(group.limit);
  PrivateFd socket;
  FrameCodes codes;
  Frame reply;
  for (;;) {
    auto connected = connect(deadline);
    if (!connected) return base::pass(connected);
    if (group.is_trusted != nullptr && !group.is_trusted(connected->get())) {
      return base::fail(
          EACCES,
          "cannot join PE %d at %s: the process at this address belongs to another user; start all PEs as one user",
          group.pes.front(), group.where.c_str());
    }
    socket = PrivateFd(std::move(*connected));
    auto hello = make_hello(group.pes[static_cast<std::size_t>(group.position)], group.n_pes);
    if (!hello) return base::pass(hello);
    if (group.is_trusted != nullptr) hello->nonce = group_name(group.secret);
    const IoEnd end = introduce(socket.get(), group, *hello, deadline, &codes, &reply);
    if (end == 0) break;
    if (deadline.has_passed()) {
      return base::fail(ETIMEDOUT,
                        "cannot join the job: the process at %s did not authenticate as PE %d within %s; use the same "
                        "secret (GDRKIT_SHMEM_TOKEN) for all PEs, and a port that no other program uses",
                        group.where.c_str(), group.pes.front(), deadline.limit_text().c_str());
    }
    if (end != ECONNRESET) {
      return base::fail(end, "cannot join the job: the connection to PE %d at %s failed: %s", group.pes.front(),
                        group.where.c_str(), std::strerror(end));
    }
    std::this_thread::sleep_for(50ms);
  }
  auto member = std::make_unique<StarMember>(std::move(socket), codes, group);
  if (auto joined = member->join(reply); !joined) return base::pass(joined);
  return member;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while joining the job");
}

}  // namespace gdrkit::shmem_impl::bootstrap
