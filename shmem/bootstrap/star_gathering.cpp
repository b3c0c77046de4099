// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/star_gathering.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/shared_text.hpp"
#include "shmem/bootstrap/pe_list.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

/// Limit of connections without a hello; above it the oldest is closed, as a defence against floods.
constexpr std::size_t most_silent = 64;
/// Limit of connections without a proof; jobs with many PEs use twice their number of PEs instead.
constexpr std::size_t least_unproved = 512;

struct UnknownPeer {
  base::UniqueFd socket;
  Hello hello{};
  Challenge challenge{};
  secret::Digest proof{};
  std::size_t read = 0;  ///< of the hello, then of the proof
  bool is_challenged = false;
};

/// Writes frame and text with one call into an empty socket buffer: the write is complete, and a PE that dies here
/// leaves no partial frame.
IoEnd write_frame(const Frame& frame, std::string_view text, StarPeer* peer) noexcept {
  FrameCode& codes = peer->codes.to_member;
  const secret::Tag code = codes.next(frame, secret::bytes_of(text));
  char bytes[sizeof frame + base::SharedText::capacity + sizeof code];
  char* end = std::copy_n(reinterpret_cast<const char*>(&frame), sizeof frame, bytes);
  end = std::copy(text.begin(), text.end(), end);
  end = std::copy_n(reinterpret_cast<const char*>(&code), codes.size_bytes(), end);
  std::size_t done = 0;
  return write_some(peer->socket.get(), bytes, static_cast<std::size_t>(end - bytes), &done);
}

class Gathering {
 public:
  Gathering(int listener, const StarGroup& group, std::vector<StarPeer>* peers)
      : listener_(listener), group_(group), peers_(*peers), missing_(group.pes.size() - 1) {}

  base::Status run() {
    const Deadline deadline(group_.limit);
    while (missing_ > 0) {
      std::vector<pollfd> entries{{listener_, POLLIN, 0}};
      for (const UnknownPeer& unknown_peer : unknown_peers_) entries.push_back({unknown_peer.socket.get(), POLLIN, 0});
      const std::size_t first_peer = entries.size();
      std::vector<std::size_t> here;  // poll() refuses more entries than there may be descriptors
      for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (peers_[i].socket) here.push_back(i);
      }
      for (const std::size_t i : here) entries.push_back({peers_[i].socket.get(), POLLIN, 0});
      const int ready = ::poll(entries.data(), entries.size(), deadline.poll_ms());
      if (ready < 0 && errno != EINTR)
        return base::fail(errno, "cannot wait for the PEs of the job: %s", std::strerror(errno));
      if (ready <= 0) {
        if (deadline.has_passed()) return absent(deadline);
        continue;
      }
      for (std::size_t i = first_peer; i < entries.size(); ++i) {
        if (entries[i].revents == 0) continue;
        if (auto well = check_peer(here[i - first_peer]); !well) return well;
      }
      if (auto well = read_unknown_peers(entries); !well) return well;
      if (entries[0].revents != 0) {
        if (auto well = accept_some(); !well) return well;
      }
    }
    return {};
  }

 private:
  base::Status absent(const Deadline& deadline) const {
    std::vector<int> pes;
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      if (!peers_[i].socket) pes.push_back(group_.pes[i]);
    }
    return base::fail(ETIMEDOUT,
                      "cannot start the job of %zu PEs: %s did not connect to %s within %s; see the output of the "
                      "missing PEs, and check that the missing PEs can reach this address",
                      group_.pes.size(), pe_list_text(pes).c_str(), group_.where.c_str(),
                      deadline.limit_text().c_str());
  }

  /// A connected PE sends nothing before all are connected, so a readable socket means its end.
  base::Status check_peer(std::size_t position) {
    char byte = 0;
    const ssize_t got = ::recv(peers_[position].socket.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    peers_[position].socket.close();
    return base::fail(ECONNRESET, "PE %d left the job before all PEs had joined; see the error message of PE %d",
                      group_.pes[position], group_.pes[position]);
  }

  base::Status read_unknown_peers(const std::vector<pollfd>& entries) {
    std::vector<UnknownPeer> still;
    base::Status well;
    for (std::size_t i = 0; i < unknown_peers_.size(); ++i) {
      UnknownPeer& unknown_peer = unknown_peers_[i];
      IoEnd end = EAGAIN;
      if (entries[i + 1].revents != 0)
        end = unknown_peer.is_challenged ? receive_proof(&unknown_peer) : receive_hello(&unknown_peer);
      if (end == EAGAIN) {
        still.push_back(std::move(unknown_peer));
      } else if (end == 0 && well) {
        well = admit(std::move(unknown_peer));
      }
    }
    unknown_peers_ = std::move(still);
    return well;
  }

  IoEnd receive_hello(UnknownPeer* unknown_peer) {
    const int socket = unknown_peer->socket.get();
    const IoEnd end = read_some(socket, &unknown_peer->hello, sizeof unknown_peer->hello, &unknown_peer->read);
    if (end != 0) return end;
    if (!has_star_magic(unknown_peer->hello.magic)) return EPROTO;
    if (group_.is_trusted != nullptr) {
      const bool is_one =
          group_.is_trusted(socket) && secret::are_equal(unknown_peer->hello.nonce, group_name(group_.secret));
      return is_one ? 0 : EACCES;
    }
    const auto nonce = make_token();
    if (!nonce) return nonce.error().errno_value;
    Challenge& challenge = unknown_peer->challenge;
    std::memcpy(challenge.magic, star_magic, sizeof challenge.magic);
    challenge.nonce = *nonce;
    challenge.proof = proof_of_centre(group_.secret, unknown_peer->hello, *nonce);
    std::size_t done = 0;
    // Into an empty buffer, so nothing is left over.
    if (const IoEnd sent = write_some(socket, &challenge, sizeof challenge, &done); sent != 0) return ECONNRESET;
    unknown_peer->is_challenged = true;
    unknown_peer->read = 0;
    return EAGAIN;
  }

  /// Sends no reply to a peer without the secret.
  IoEnd receive_proof(UnknownPeer* unknown_peer) {
    const IoEnd end =
        read_some(unknown_peer->socket.get(), &unknown_peer->proof, sizeof unknown_peer->proof, &unknown_peer->read);
    if (end != 0) return end;
    const secret::Digest expected = proof_of_member(group_.secret, unknown_peer->hello, unknown_peer->challenge.nonce);
    return secret::are_equal(unknown_peer->proof, expected) ? 0 : EACCES;
  }

  /// Admits a peer that has proved the secret.
  base::Status admit(UnknownPeer unknown_peer) {
    const Hello& hello = unknown_peer.hello;
    // The launcher reported the exit of a PE that is not in this job.
    if (hello.n_pes == 0 && position_of(hello.pe) >= group_.pes.size()) return {};
    FrameCodes codes;
    if (group_.is_trusted == nullptr) codes = FrameCodes(group_.secret, hello, unknown_peer.challenge.nonce);
    if (auto fits = check(hello); !fits) {
      // The rejected PE receives the reason with the others.
      StarPeer& refused = peers_.emplace_back();
      refused.socket = PrivateFd(std::move(unknown_peer.socket));
      refused.codes = codes;
      return fits;
    }
    StarPeer& peer = peers_[position_of(hello.pe)];
    peer.socket = PrivateFd(std::move(unknown_peer.socket));
    const int yes = 1;  // not an error on a UNIX socket that the option means nothing to
    ::setsockopt(peer.socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    peer.codes = codes;
    static_cast<void>(write_frame(Frame{}, "", &peer));  // a failure shows as the peer's end
    --missing_;
    return {};
  }

  /// One past the last for a PE that is none of the group.
  std::size_t position_of(std::uint32_t pe) const {
    const auto place = std::lower_bound(group_.pes.begin(), group_.pes.end(), pe, [](int one, std::uint32_t other) {
      return static_cast<std::uint32_t>(one) < other;
    });
    const bool is_there = place != group_.pes.end() && static_cast<std::uint32_t>(*place) == pe;
    return is_there ? static_cast<std::size_t>(place - group_.pes.begin()) : group_.pes.size();
  }

  base::Status check(const Hello& hello) const {
    if (hello.version != star_version) {
      return base::fail(EPROTO,
                        "cannot start the job: a PE uses version %u of gdrkit's start protocol, but PE %d uses version "
                        "%u; use one release of gdrkit for all PEs",
                        hello.version, group_.pes.front(), star_version);
    }
    if (hello.n_pes == 0)
      return base::fail(ECONNRESET, "PE %u exited before it joined the job; see the error message of PE %u", hello.pe,
                        hello.pe);
    if (group_.is_over) {
      return base::fail(ECONNRESET, "PE %d exited before all PEs had joined the job; see the error message of PE %d",
                        group_.pes.front(), group_.pes.front());
    }
    if (hello.n_pes != static_cast<std::uint32_t>(group_.n_pes)) {
      return base::fail(EPROTO,
                        "cannot start the job: PE %u expects %u PEs, but PE %d expects %d; set the same number of PEs "
                        "for all processes",
                        hello.pe, hello.n_pes, group_.pes.front(), group_.n_pes);
    }
    const std::size_t position = position_of(hello.pe);
    if (position >= group_.pes.size()) {
      return base::fail(EPROTO, "cannot accept PE %u: PE %d accepts only %s; check the PE numbers of the job", hello.pe,
                        group_.pes.front(), pe_list_text(group_.pes).c_str());
    }
    if (position == 0 || peers_[position].socket) {
      return base::fail(EPROTO, "PE number %u is used by two processes or threads; give each its own PE number",
                        hello.pe);
    }
    return {};
  }

  base::Status accept_some() {
    for (int i = 0; i < 64; ++i) {
      base::UniqueFd socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) {
        const bool is_full = errno == EMFILE || errno == ENFILE;
        if (is_full && !unknown_peers_.empty()) {
          if (i > 0) return {};  // connections of this call may be PEs and are read first
          close_oldest();
          continue;
        }
        if (!is_full) return {};  // none there, or one that ended while it waited
        return base::fail(errno,
                          "PE %d cannot open one connection for each of %zu PEs: too many open files; raise ulimit -n",
                          group_.pes.front(), group_.pes.size());
      }
      const auto silent = static_cast<std::size_t>(
          std::count_if(unknown_peers_.begin(), unknown_peers_.end(),
                        [](const UnknownPeer& unknown_peer) { return !unknown_peer.is_challenged; }));
      if (silent >= most_silent || unknown_peers_.size() >= std::max(least_unproved, 2 * peers_.size())) close_oldest();
      unknown_peers_.emplace_back().socket = std::move(socket);
    }
    return {};
  }

  /// Closes the oldest connection, preferably one without a hello: a challenged one may be a PE whose proof is in
  /// flight.
  void close_oldest() {
    const auto silent = std::find_if(unknown_peers_.begin(), unknown_peers_.end(),
                                     [](const UnknownPeer& unknown_peer) { return !unknown_peer.is_challenged; });
    unknown_peers_.erase(silent != unknown_peers_.end() ? silent : unknown_peers_.begin());
  }

  int listener_;
  const StarGroup& group_;
  std::vector<StarPeer>& peers_;
  std::vector<UnknownPeer> unknown_peers_;
  std::size_t missing_;
};

}  // namespace

base::Status accept_members(int listener, const StarGroup& group, std::vector<StarPeer>* peers) {
  const int flags = ::fcntl(listener, F_GETFL);
  ::fcntl(listener, F_SETFL, flags | O_NONBLOCK);
  peers->clear();
  peers->resize(group.pes.size());
  auto came = Gathering(listener, group, peers).run();
  if (!came) {
    send_failure(came.error(), true, peers);
    return came;
  }
  Frame go;
  go.kind = FrameKind::go;
  for (std::size_t i = 1; i < peers->size(); ++i) {
    (*peers)[i].end = write_frame(go, "", &(*peers)[i]);
  }
  return {};
}

void send_failure(const base::Error& error, bool is_final, std::vector<StarPeer>* peers) noexcept {
  Frame frame;
  frame.kind = FrameKind::failure;
  frame.error = error.errno_value;
  frame.flags = is_final ? frame_is_final : 0;
  frame.size_bytes = std::strlen(error.text());
  for (StarPeer& peer : *peers) {
    // Within a partial reply the frame would be read as its remainder.
    if (!peer.socket || peer.end != 0 || (peer.written > 0 && !peer.has_all)) continue;
    peer.end = write_frame(frame, error.text(), &peer);
  }
}

}  // namespace gdrkit::shmem_impl::bootstrap
