// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MachineDamage: interprets the bytes of an input as commands, each of which damages one file of a machine.
#pragma once

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "memory_tree.hpp"

namespace gdrkit::fuzz {

/// Part of every hostile text, with a character that a shell interprets.
inline constexpr const char* canary = "canary$";

/// Numbers at the limits of types, and near-numbers.
inline const std::vector<std::string>& edge_numbers() {
  static const std::vector<std::string> numbers = {"0",
                                                   "1",
                                                   "-1",
                                                   "-0",
                                                   "+1",
                                                   "00000001",
                                                   "255",
                                                   "256",
                                                   "65535",
                                                   "65536",
                                                   "2147483647",
                                                   "2147483648",
                                                   "4294967295",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "-9223372036854775808",
                                                   "-9223372036854775809",
                                                   "18446744073709551615",
                                                   "18446744073709551616",
                                                   "99999999999999999999999999999999",
                                                   "0x",
                                                   "0xffffffffffffffff",
                                                   "0x7fffffffffffffff",
                                                   "0x80000000",
                                                   "1e308",
                                                   "1e309",
                                                   "1e-320",
                                                   "nan",
                                                   "inf",
                                                   "-inf",
                                                   "0-4294967295",
                                                   "3-1",
                                                   "7,7,7",
                                                   "0-1023",
                                                   "1.5",
                                                   "1,5",
                                                   "1 2"};
  return numbers;
}

inline const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts = {"",
                                                 "\n",
                                                 "\n\n\n\n",
                                                 std::string(1, '\0'),
                                                 std::string("a\0b\n", 4),
                                                 "\x1b[2J\x1b]0;t\x07",
                                                 "%s%n%n%s%d",
                                                 "$(canary$)`canary$`';canary$;\"",
                                                 "'canary$'",
                                                 "END_OF_FILE\ncanary$\n",
                                                 "\"canary$\\\"\n",
                                                 "#canary$\n\rcanary$",
                                                 "\xff\xfe\x80\xc0\xaf",
                                                 "<a href=\"&canary$\">]]>",
                                                 std::string(2000, '['),
                                                 std::string(3000, '{'),
                                                 "{\"\":",
                                                 "=",
                                                 "-",
                                                 "--canary$",
                                                 "../../../../../..",
                                                 "/",
                                                 ".",
                                                 "0000:00:00.0",
                                                 "0000:03:00.0",
                                                 "ffff:ff:1f.7",
                                                 "10000:e1:00.0",
                                                 "mlx5_0",
                                                 "eth1",
                                                 "0x10de",
                                                 "0x15b3",
                                                 "0x030200",
                                                 "0x060400",
                                                 "4: ACTIVE",
                                                 "1: DOWN",
                                                 "5: \x7f",
                                                 "Ethernet",
                                                 "InfiniBand",
                                                 "NCCL_TOPO_FILE=/etc/nccl.conf\nNCCL_IB_HCA==^mlx5_0:1:2,,^=\n",
                                                 "RoCE v2",
                                                 "2.5 GT/s PCIe",
                                                 "Unknown",
                                                 "max",
                                                 "off",
                                                 "[integrity]",
                                                 "100 Gb/sec (1X",
                                                 std::string(70000, 'A'),
                                                 std::string(5000, '\n'),
                                                 std::string(3000, ','),
                                                 " \t \t"};
  return texts;
}

/// Reads an input piece by piece; after its end every number is 0.
class InputReader {
 public:
  InputReader(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  [[nodiscard]] bool is_empty() const noexcept { return left_ == 0; }
  unsigned byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  unsigned word() {
    const unsigned high = byte();
    return high << 8 | byte();
  }
  /// Returns one of several values.
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[word() % all.size()];
  }
  std::string text(std::size_t size) {
    std::string result;
    while (result.size() < size && left_ > 0) result += static_cast<char>(byte());
    return result;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

class MachineDamage {
 public:
  static constexpr unsigned most_commands = 24;  ///< of an input; more would find no more
  static constexpr std::size_t largest_content = std::size_t{1} << 18;

  MachineDamage(MemoryTree* tree, std::vector<std::string> absent_paths)
      : tree_(*tree), paths_(std::move(absent_paths)) {
    add_paths("", *tree_.find("/"));
  }

  void apply(InputReader input) {
    for (unsigned count = 0; count < most_commands && !input.is_empty(); ++count) {
      const unsigned command = input.byte() % 18;
      const std::string path = input.of(paths_);
      if (command < 8) {
        damage_content(command, path, &input);
      } else {
        damage_place(command, path, &input);
      }
    }
  }

 private:
  using File = MemoryTree::File;

  void add_paths(const std::string& above, const File& directory) {
    for (const auto& [name, file] : directory.inside) {
      const std::string path = above + "/" + name;
      paths_.push_back(path);
      add_paths(path, *file);
    }
  }
  [[nodiscard]] bool is_file(const File* file) const {
    return file != nullptr && !file->entry.is_link && file->entry.node.kind == diag::topology::NodeKind::file;
  }

  /// Damages a file; for a path without a file, makes a file with hostile content.
  void damage_content(unsigned command, const std::string& path, InputReader* input) {
    File* file = tree_.find(path);
    if (!is_file(file)) return tree_.put(path, input->of(hostile_texts()));
    std::string& content = file->content;
    const std::size_t at = input->word() % (content.size() + 1);
    switch (command) {
      case 0: content.resize(at); break;
      case 1: content.insert(at, input->of(hostile_texts())); break;
      case 2: content.insert(at, input->text(1 + input->byte() % 16)); break;
      case 3: replace_run(&content, at, "0123456789", input->of(edge_numbers())); break;
      case 4:
        replace_run(&content, at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", input->of(hostile_texts()));
        break;
      case 5: {
        const std::string once = content;
        for (unsigned i = input->byte(); i > 0 && content.size() + once.size() <= largest_content; --i) content += once;
        break;
      }
      case 6:
        if (at < content.size()) content[at] = static_cast<char>(input->byte());
        break;
      default: replace_line(&content, at, input->of(hostile_texts())); break;
    }
  }

  void damage_place(unsigned command, const std::string& path, InputReader* input) {
    static const std::vector<int> errors = {EACCES, EPERM, EIO, ENODEV, EINVAL, EISDIR, ELOOP, ENOENT, EOPNOTSUPP};
    File* file = tree_.find(path);
    switch (command) {
      case 8: tree_.put(path, input->of(hostile_texts()) + "\n"); break;
      case 9: tree_.put(path, input->of(edge_numbers()) + "\n"); break;
      case 10: tree_.put(path, input->text(input->byte() % 64)); break;
      case 11: tree_.remove(path); break;
      case 12:
        if (file != nullptr) file->error = input->of(errors);
        break;
      case 13: tree_.put_link(path, input->of(paths_)); break;
      case 14: tree_.put_link(path, input->of(hostile_texts())); break;
      case 15:
        if (input->byte() % 2 == 0) {
          tree_.put_device(path, input->byte(), input->byte());
        } else {
          tree_.put_directory(path);
        }
        break;
      case 16: copy(path, input->of(paths_)); break;
      default: repeat(path, input); break;
    }
  }

  /// Replaces the content by that of another file.
  void copy(const std::string& path, const std::string& from) {
    const File* other = tree_.find(from);
    if (is_file(other)) tree_.put(path, std::string(other->content));
  }

  /// Adds the same content under additional names: more devices, more adapters, more ports.
  void repeat(const std::string& path, InputReader* input) {
    const std::size_t slash = path.rfind('/');
    File* directory = tree_.find(path.substr(0, slash));
    if (directory == nullptr || directory->inside.count(path.substr(slash + 1)) == 0) return;
    const auto file = directory->inside[path.substr(slash + 1)];
    for (unsigned i = 1 + input->byte() % 16; i > 0; --i) {
      std::string name = path.substr(slash + 1);
      if (input->byte() % 4 == 0) {
        name = input->of(hostile_texts()).substr(0, 255);
      } else {
        replace_run(&name, input->byte() % (name.size() + 1), "0123456789abcdef", input->of(edge_numbers()));
      }
      name.erase(std::remove(name.begin(), name.end(), '/'), name.end());
      name.erase(std::remove(name.begin(), name.end(), '\0'), name.end());
      if (!name.empty() && name != "." && name != "..") directory->inside[name] = file;
    }
  }

  /// Replaces the next run of characters in `set`, from `at` on.
  static void replace_run(std::string* text, std::size_t at, const char* set, const std::string& by) {
    const std::size_t begin = text->find_first_of(set, at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text->find_first_not_of(set, begin), text->size());
    text->replace(begin, end - begin, by);
  }
  static void replace_line(std::string* text, std::size_t at, const std::string& by) {
    const std::size_t before = at == 0 ? std::string::npos : text->rfind('\n', at - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    text->replace(begin, std::min(text->find('\n', begin), text->size()) - begin, by);
  }

  MemoryTree& tree_;
  std::vector<std::string> paths_;
};

}  // namespace gdrkit::fuzz
