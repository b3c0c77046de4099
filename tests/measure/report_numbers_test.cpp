// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The format of numbers and text in a report.
#include <gtest/gtest.h>

#include <cfloat>
#include <limits>

#include "measure/report/markup.hpp"
#include "measure/report/numbers.hpp"

namespace gdrkit::measure::report {
namespace {

TEST(ReportNumbers, HaveThreeSignificantDigits) {
  EXPECT_EQ(three_digits(0.1388), "0.139");
  EXPECT_EQ(three_digits(0.01234), "0.0123");
  EXPECT_EQ(three_digits(0.001234), "0.00123");
  EXPECT_EQ(three_digits(1.0666), "1.07");
  EXPECT_EQ(three_digits(42.24), "42.2");
  EXPECT_EQ(three_digits(9.999), "10.0");
  EXPECT_EQ(three_digits(1041.4), "1040");
  EXPECT_EQ(three_digits(-2.5), "-2.50");
  EXPECT_EQ(three_digits(0), "0");
  EXPECT_EQ(three_digits(1.5e300), "1.5e+300");
  EXPECT_EQ(three_digits(DBL_MAX), "1.8e+308");
  EXPECT_EQ(three_digits(std::numeric_limits<double>::quiet_NaN()), "no number");
}

TEST(ReportNumbers, UseTheNextUnitAfterRounding) {
  EXPECT_EQ(written(138.6, Quantity::time), "139 ns");
  EXPECT_EQ(written(999.4, Quantity::time), "999 ns");
  EXPECT_EQ(written(999.7, Quantity::time), "1.00 µs");
  EXPECT_EQ(written(1043000, Quantity::time), "1.04 ms");
  EXPECT_EQ(written(2.5e9, Quantity::time), "2.50 s");
  EXPECT_EQ(written(0.25, Quantity::time), "0.250 ns");
  EXPECT_EQ(written(26.14, Quantity::bandwidth), "26.1 GB/s");
  EXPECT_EQ(written(0.0081, Quantity::bandwidth), "8.10 MB/s");
  EXPECT_EQ(written(0.00002, Quantity::bandwidth), "20.0 kB/s");
}

TEST(ReportNumbers, TicksHaveNoExponentWhereDigitsFit) {
  EXPECT_EQ(written_short(0.00001, Quantity::bandwidth), "10 kB/s");
  EXPECT_EQ(written_short(100, Quantity::bandwidth), "100 GB/s");
  EXPECT_EQ(written_short(0.00001, Quantity::plain), "0.00001");
  EXPECT_EQ(written_short(0.00005, Quantity::plain), "0.00005");
  EXPECT_EQ(written_short(0.0001, Quantity::plain), "0.0001");
  EXPECT_EQ(written_short(20000, Quantity::plain), "20000");
}

TEST(ReportNumbers, WriteSizesInPowersOf1024) {
  EXPECT_EQ(written(1, Quantity::size), "1 B");
  EXPECT_EQ(written(1023, Quantity::size), "1023 B");
  EXPECT_EQ(written(65536, Quantity::size), "64 KiB");
  EXPECT_EQ(written(0, Quantity::size), "0 B");
  EXPECT_EQ(written(1536, Quantity::size), "1536 B") << "whole bytes stay exact";
  EXPECT_EQ(written(1536.5, Quantity::size), "1.50 KiB");
  EXPECT_EQ(written(3 << 19, Quantity::size), "1536 KiB");
  EXPECT_EQ(written(268435456, Quantity::size), "256 MiB");
  EXPECT_EQ(written(1e300, Quantity::size), "8.88e+284 PiB");
}

TEST(ReportNumbers, SupportTheUnitsOfTheSchemaAndKeepOthers) {
  EXPECT_EQ(unit_of("us").quantity, Quantity::time);
  EXPECT_DOUBLE_EQ(unit_of("us").factor, 1000);
  EXPECT_DOUBLE_EQ(unit_of("MiB/s").factor, 1048576 / 1e9);
  EXPECT_EQ(unit_of("GB/s").quantity, Quantity::bandwidth);
  EXPECT_EQ(unit_of("furlongs").quantity, Quantity::plain);
  EXPECT_EQ(written(12, Quantity::plain, "furlongs"), "12 furlongs");
  EXPECT_EQ(written(26.14, Quantity::bandwidth), "26.1 GB/s");
  EXPECT_EQ(written(1.0404, Quantity::ratio), "1.040");
  EXPECT_EQ(quantity_of_x("size_bytes"), Quantity::size);
  EXPECT_EQ(quantity_of_x("threads"), Quantity::plain);
  EXPECT_EQ(quantity_of_x(""), Quantity::plain);
}

TEST(ReportNumbers, WriteNoiseAndCounts) {
  EXPECT_EQ(written_noise(0.0042), "±0.4 %");
  EXPECT_EQ(written_noise(0.152), "±15 %");
  EXPECT_EQ(written_noise(0.0995), "±10 %");
  EXPECT_EQ(written_noise(1e300), "±over 999 %");
  EXPECT_EQ(counted(1, "point"), "1 point");
  EXPECT_EQ(counted(0, "point"), "0 points");
}

TEST(ReportMarkup, EscapesHtml) {
  EXPECT_EQ(escaped("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
  EXPECT_EQ(escaped("Größe µs"), "Größe µs");
}

TEST(ReportMarkup, ReplacesInvisibleCharacters) {
  EXPECT_EQ(escaped(std::string_view("a\0b", 3)),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(escaped("a\x1b[2Jb"), "a\xef\xbf\xbd[2Jb");
  EXPECT_EQ(escaped("\xe2\x80\xae"), "\xef\xbf\xbd") << "a mark that turns the direction of the text";
  EXPECT_EQ(escaped("\xff\xfe"), "\xef\xbf\xbd\xef\xbf\xbd") << "no UTF-8";
  EXPECT_EQ(escaped("\xc3"), "\xef\xbf\xbd") << "cut off";
  EXPECT_EQ(escaped("\xc0\xbc"), "\xef\xbf\xbd\xef\xbf\xbd") << "an overlong '<'";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") << "half a surrogate pair";
}

TEST(ReportMarkup, ShortensByCharactersNotBytes) {
  EXPECT_EQ(shortened("µµµµ", 4), "µµµµ");
  EXPECT_EQ(shortened("µµµµµ", 4), "µµµ…");
  EXPECT_EQ(length_of("µs"), 2u);
}

TEST(ReportMarkup, WritesCoordinatesWithOneDecimal) {
  EXPECT_EQ(coordinate(12.34), "12.3");
  EXPECT_EQ(coordinate(12), "12");
  EXPECT_EQ(coordinate(-0.01), "0");
}

}  // namespace
}  // namespace gdrkit::measure::report
