// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A GPU kernel that waits until a word of device memory has a value, with a time limit.
#pragma once

namespace gdrkit::live {

/// spin(word*, stop, limit_ns, seen*): polls *word until it equals stop or limit_ns have passed; thread 0 of block 0
/// stores 1 in *seen if it read the value. PTX, so that the test requires no CUDA compiler.
inline constexpr const char* spin_kernel_ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 word, .param .u32 stop, .param .u64 limit, .param .u64 seen)
{
  .reg .u64 %address, %limit, %seen, %start, %now;
  .reg .u32 %stop, %value, %thread, %block, %one;
  .reg .pred %done, %late, %other;
  ld.param.u64 %address, [word];
  ld.param.u32 %stop, [stop];
  ld.param.u64 %limit, [limit];
  ld.param.u64 %seen, [seen];
  cvta.to.global.u64 %address, %address;
  cvta.to.global.u64 %seen, %seen;
  mov.u64 %start, %globaltimer;
wait:
  ld.volatile.global.u32 %value, [%address];
  setp.eq.u32 %done, %value, %stop;
  @%done bra found;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  setp.gt.u64 %late, %now, %limit;
  @%late bra finish;
  bra wait;
found:
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  or.b32 %thread, %thread, %block;
  setp.ne.u32 %other, %thread, 0;
  @%other bra finish;
  mov.u32 %one, 1;
  st.volatile.global.u32 [%seen], %one;
finish:
  ret;
}
)";

}  // namespace gdrkit::live
