// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The correct forms of the snippets in this folder.
#include <gdrkit/shmem.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

using gdrkit::shmem::Comparison;
using gdrkit::shmem::SymmetricSpan;

void use(const gdrkit::shmem::Job& job, const SymmetricSpan<char>& text, const SymmetricSpan<std::uint64_t>& word) {
  const auto buffer = job.allocate<float>(4);
  const SymmetricSpan<float> span = buffer.span();
  std::vector<float> numbers(4);
  std::array<float, 4> array{};
  char characters[4] = {};
  text.put(std::string_view("text"), 0);
  text.put(characters, 0);
  text.put_signal(std::string_view("text"), word, 1, 0);
  span.put(numbers, 0);
  span.put(std::vector<float>(4), 0);
  span.get(array, 0);
  span.get(std::span(numbers), 0);
  span.put_on_stream(std::span(numbers), 0, nullptr);
  span[0].store(1, 0);
  word[0].wait_until(Comparison::equal, 1);
  (void)word[0].fetch_add(1, 0);
  const SymmetricSpan<const float> readable(buffer.data(), 4);
  readable.get(numbers, 0);
  (void)readable[0].load(0);
}
