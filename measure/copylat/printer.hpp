// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopylatPrinter: the text output of copylat during the measurement: GDRCopy's lines, our own, or none with JSON.
#pragma once

#include <memory>

#include "measure/copylat/copylat.hpp"

namespace gdrkit::measure::copylat {

class CopylatPrinter {
 public:
  virtual ~CopylatPrinter() = default;
  virtual void before_driver_tables(const platform::Device&, const AlignedAllocation&) {}
  virtual void before_mapping_tables(const MappedBuffer&, const CopylatReport&) {}
  virtual void table_begins(const LatencyTable&) {}
  virtual void row(const LatencyTable&, const LatencyRow&) {}
  virtual void table_ends(const LatencyTable&) {}
  virtual void raw_begins(const CopylatReport&) {}
  virtual void raw_row(const RawRow&) {}
  virtual void raw_ends(const CopylatReport&) {}
  virtual void pin_cost(const PinCost&) {}
  virtual void step(const char*) {}  ///< "unmapping buffer" etc.
};

/// `options` must outlive the printer.
[[nodiscard]] std::unique_ptr<CopylatPrinter> make_gdrcopy_printer(const CopylatOptions& options);
[[nodiscard]] std::unique_ptr<CopylatPrinter> make_table_printer(const CopylatOptions& options);

}  // namespace gdrkit::measure::copylat
