// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// LitmusWork: one group of the GPU kernel `litmus`, written once for GPU threads and for the host thread that emulates
// them.
//
// The writer never waits for the reader. Words count rounds, so the rule is: a reader that sees a flag of round r sees
// data of round r or later. Only store_buffering synchronizes by a barrier before each round.
#pragma once

#include <gdrkit/shmem_device.cuh>

#include "platform/gpu_code/litmus_params.hpp"

namespace gdrkit::platform {

template <class Group>
class LitmusWork {
 public:
  GDRKIT_SHMEM_FUNCTION LitmusWork(const LitmusParameters& parameters, Group group, unsigned instance)
      : parameters_(parameters),
        state_(parameters.state),
        group_(group),
        instance_(instance),
        words_(of_instance(instance)) {}

  GDRKIT_SHMEM_FUNCTION LitmusResult run() {
    if (parameters_.shape == LitmusShape::store_buffering) {
      store_buffering();
    } else if (state_.pe == writer()) {
      write_all();
    } else if (state_.pe == reader()) {
      read_all();
    }
    return found_;
  }

 private:
  // Words of an instance, each on a separate line.
  static constexpr unsigned data_at = 0;     // data_words of them
  static constexpr unsigned flag_at = 16;    // the flag, written last
  static constexpr unsigned ready_at = 32;   // the reader has started
  static constexpr unsigned seen_at = 48;    // the last flag that the reader saw; with no_order only
  static constexpr unsigned result_at = 64;  // for store_buffering: whether the other PE saw an old word
  static constexpr unsigned local_at = 80;   // target of the get; for store_buffering this PE's result
  static constexpr unsigned data_words = 8;
  static constexpr unsigned reads_per_clock = 1024;

  GDRKIT_SHMEM_FUNCTION std::uint64_t* of_instance(unsigned instance) const {
    return reinterpret_cast<std::uint64_t*>(parameters_.words + litmus_stride_bytes * instance);
  }
  GDRKIT_SHMEM_FUNCTION int writer() const { return static_cast<int>(parameters_.writer); }
  GDRKIT_SHMEM_FUNCTION int reader() const { return static_cast<int>(parameters_.reader); }
  GDRKIT_SHMEM_FUNCTION bool has(LitmusMistake mistake) const { return parameters_.mistake == mistake; }

  // The writer.

  GDRKIT_SHMEM_FUNCTION void write_all() {
    // In a large group, only the thread that writes the flag waits: the others wait at the first group barrier.
    if (group_.rank() == 0 && !wait_for(words_ + ready_at, 1)) ++found_.expired;
    if (!group_.all(found_.expired == 0)) return;
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t round = 1; round <= parameters_.rounds; ++round) {
      if (has(LitmusMistake::no_order)) {
        if (group_.rank() == 0) {
          write_flag(round);
          if (!wait_for(words_ + seen_at, round)) ++found_.expired;
        }
        if (!group_.all(found_.expired == 0)) return;
        write_data(round);
        group_.sync();
      } else if (parameters_.shape == LitmusShape::put_signal && !has(LitmusMistake::no_fence)) {
        fill_source(round);
        shmem::put_signal(state_, target(), source(), parameters_.size_bytes, words_ + flag_at, round,
                          GDRKIT_SHMEM_SIGNAL_SET, reader(), group_);
        group_.sync();  // the source is overwritten next
      } else {
        write_data(round);
        group_.sync();
        if (group_.rank() == 0) {
          if (!has(LitmusMistake::no_fence)) order();
          write_flag(round);
        }
      }
    }
  }

  GDRKIT_SHMEM_FUNCTION void write_data(std::uint64_t round) {
    switch (parameters_.shape) {
      case LitmusShape::put_signal:
        fill_source(round);
        shmem::put_nbi(state_, target(), source(), parameters_.size_bytes, reader(), group_);
        group_.sync();
        break;
      case LitmusShape::fresh_get:
        GDRKIT_SHMEM_ROLLED
        for (unsigned at = 0; at < data_words; ++at) shmem::p(state_, words_ + data_at + at, round, writer());
        break;
      default: shmem::p(state_, words_ + data_at, round, reader());
    }
  }
  GDRKIT_SHMEM_FUNCTION void fill_source(std::uint64_t round) {
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t at = group_.rank(); at < bulk_words(); at += group_.size()) source()[at] = round;
    group_.sync();
  }
  /// The call whose guarantee the shape tests.
  GDRKIT_SHMEM_FUNCTION void order() {
    if (parameters_.shape == LitmusShape::third_word) {
      shmem::quiet(state_);
    } else {
      shmem::fence(state_);
    }
  }
  GDRKIT_SHMEM_FUNCTION void write_flag(std::uint64_t round) {
    switch (parameters_.shape) {
      case LitmusShape::put_signal:
        shmem::signal_op(state_, words_ + flag_at, round, GDRKIT_SHMEM_SIGNAL_SET, reader());
        break;
      case LitmusShape::third_word: shmem::p(state_, words_ + flag_at, round, writer()); break;
      case LitmusShape::atomics: shmem::atomic_add<std::uint64_t>(state_, words_ + flag_at, 1, reader()); break;
      default: shmem::p(state_, words_ + flag_at, round, reader());
    }
  }

  // The reader. Each thread checks separately.

  GDRKIT_SHMEM_FUNCTION void read_all() {
    if (group_.rank() == 0) shmem::p<std::uint64_t>(state_, words_ + ready_at, 1, writer());
    std::uint64_t last = 0;
    std::uint64_t begin = 0;
    GDRKIT_SHMEM_ROLLED
    while (last < parameters_.rounds) {
      const std::uint64_t flag = read_flag();
      ++found_.reads;
      if (flag != last) {
        ++found_.raced;
        last = flag;
        if (!has_data_of(flag)) ++found_.broken;
        if (has(LitmusMistake::no_order) && group_.rank() == 0) shmem::p(state_, words_ + seen_at, flag, writer());
      }
      if (found_.reads % reads_per_clock != 0) continue;
      shmem::detail::relax();
      const std::uint64_t now = shmem::detail::clock_ns();
      if (begin == 0) begin = now;
      if (now - begin <= state_.limit_ns) continue;
      ++found_.expired;
      return;
    }
  }

  GDRKIT_SHMEM_FUNCTION std::uint64_t read_flag() {
    std::uint64_t flag = 0;
    switch (parameters_.shape) {
      case LitmusShape::third_word:
        flag = shmem::g(state_, words_ + flag_at, writer());
        shmem::detail::fence_system();
        break;
      case LitmusShape::atomics:
        flag = shmem::atomic_fetch_add<std::uint64_t>(state_, words_ + flag_at, 0, reader());
        shmem::detail::fence_system();
        break;
      // A get returns data that is not older than the call, regardless of earlier loads: no acquire is needed.
      case LitmusShape::fresh_get: flag = shmem::g(state_, words_ + flag_at, reader()); break;
      // Like the library's waits.
      default: flag = shmem::detail::load_polled(words_ + flag_at); shmem::detail::end_polls();
    }
    return flag;
  }

  GDRKIT_SHMEM_FUNCTION bool has_data_of(std::uint64_t flag) {
    switch (parameters_.shape) {
      case LitmusShape::put_signal: return is_all_of(target(), group_.rank(), group_.size(), bulk_words(), flag);
      case LitmusShape::fresh_get: {
        get_data();
        return is_all_of(words_ + local_at, 0, 1, data_words, flag);
      }
      default: return words_[data_at] >= flag;
    }
  }
  GDRKIT_SHMEM_FUNCTION void get_data() {
    constexpr std::size_t bytes = data_words * sizeof(std::uint64_t);
    if (!has(LitmusMistake::cached)) {
      shmem::get(state_, words_ + local_at, words_ + data_at, bytes, writer(), shmem::thread());
      return;
    }
    using shmem::detail::Reads;
    shmem::detail::copy<Reads::ordinary>(reinterpret_cast<char*>(words_ + local_at),
                                         reinterpret_cast<const char*>(shmem::ptr(state_, words_ + data_at, writer())),
                                         bytes, shmem::thread());
  }
  GDRKIT_SHMEM_FUNCTION static bool is_all_of(const std::uint64_t* words, std::uint64_t begin, std::uint64_t step,
                                              std::uint64_t end, std::uint64_t least) {
    bool is_so = true;
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t at = begin; at < end; at += step) is_so = is_so && words[at] >= least;
    return is_so;
  }

  // Both write and both read: it is forbidden that both read the old value.

  GDRKIT_SHMEM_FUNCTION void store_buffering() {
    if (state_.pe != writer() && state_.pe != reader()) return;
    const int other = state_.pe == writer() ? reader() : writer();
    GDRKIT_SHMEM_ROLLED
    for (std::uint64_t round = 1; round <= parameters_.rounds; ++round) {
      if (!synchronize()) return;
      if (has(LitmusMistake::no_order)) {
        for_each_instance([&](std::uint64_t* words) { publish_result(words, round, other); });
        if (!synchronize()) return;
      }
      for_each_instance([&](std::uint64_t* words) {
        shmem::p(state_, words + data_at, round, other);
        if (has(LitmusMistake::none)) shmem::quiet(state_);
        if (!has(LitmusMistake::no_order)) publish_result(words, round, other);
      });
      if (!synchronize()) return;
      for_each_instance([&](std::uint64_t* words) {
        const volatile std::uint64_t* const results = words;
        const bool saw_old = results[local_at] == round;
        ++found_.reads;
        found_.raced += saw_old ? 1 : 0;
        found_.broken += saw_old && results[result_at] == round ? 1 : 0;
      });
    }
  }
  /// Reads this PE's word, and reports to both PEs whether it was old.
  GDRKIT_SHMEM_FUNCTION void publish_result(std::uint64_t* words, std::uint64_t round, int other) {
    const std::uint64_t seen = shmem::g(state_, words + data_at, state_.pe);
    const std::uint64_t old_round = seen < round ? round : 0;
    shmem::p(state_, words + local_at, old_round, state_.pe);
    shmem::p(state_, words + result_at, old_round, other);
  }
  GDRKIT_SHMEM_FUNCTION bool synchronize() {
    const bool came = group_.all(shmem::barrier_all(state_, group_));
    if (!came) ++found_.expired;
    return came;
  }
  template <class Do>
  GDRKIT_SHMEM_FUNCTION void for_each_instance(Do&& what) {
    GDRKIT_SHMEM_ROLLED
    for (unsigned number = group_.rank(); number < parameters_.instances; number += group_.size()) {
      what(of_instance(number));
    }
  }

  GDRKIT_SHMEM_FUNCTION bool wait_for(const std::uint64_t* word, std::uint64_t least) const {
    return shmem::wait_until(state_, word, GDRKIT_SHMEM_GE, least);
  }
  GDRKIT_SHMEM_FUNCTION std::uint64_t bulk_words() const { return parameters_.size_bytes / sizeof(std::uint64_t); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t* target() const { return bulk(parameters_.target); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t* source() const { return bulk(parameters_.source); }
  GDRKIT_SHMEM_FUNCTION std::uint64_t* bulk(std::uint64_t first) const {
    return reinterpret_cast<std::uint64_t*>(first + parameters_.size_bytes * instance_);
  }

  const LitmusParameters& parameters_;
  const shmem::State& state_;
  const Group group_;
  const unsigned instance_;
  std::uint64_t* const words_;
  LitmusResult found_{};
};

}  // namespace gdrkit::platform
