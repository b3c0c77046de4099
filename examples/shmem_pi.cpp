// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Each PE integrates its part of 4 / (1 + x * x), puts the result into PE 0's GPU and increments a counter there. PE 0
// waits for all PEs and adds the results:
//   gdrkit run -n 2 -- ./shmem_pi              one PE on each GPU
//   gdrkit run -n 4 --emulated -- ./shmem_pi   any machine
#include <cmath>
#include <cstdio>
#include <gdrkit/shmem.hpp>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

namespace {

double integrate(int pe, int n_pes) {
  constexpr int steps = 1000000;
  double sum = 0;
  for (int i = pe; i < steps; i += n_pes) {
    const double x = (i + 0.5) / steps;
    sum += 4 / (1 + x * x);
  }
  return sum / steps;
}

}  // namespace

int main() try {
  gdrkit::shmem::Job job;
  const auto n_pes = static_cast<std::size_t>(job.n_pes());
  const auto shares = job.allocate<double>(n_pes);
  const auto arrived = job.allocate<std::uint64_t>(1);
  const std::vector<double> mine = {integrate(job.pe(), job.n_pes())};
  // The count becomes visible after the share.
  shares[static_cast<std::size_t>(job.pe())].put_signal(mine, arrived[0], 1, 0, gdrkit::shmem::Signal::add);
  bool is_right = true;
  if (job.pe() == 0) {
    arrived[0].wait_until(gdrkit::shmem::Comparison::equal, n_pes);
    std::vector<double> all(n_pes);
    shares.span().get(all, 0);
    const double pi = std::accumulate(all.begin(), all.end(), 0.0);
    is_right = std::abs(pi - std::numbers::pi) < 1e-9;
    std::printf("pi is %.9f, of %zu PEs\n", pi, n_pes);
  }
  job.barrier();
  return is_right ? 0 : 1;
} catch (const gdrkit::Error& error) {
  std::fputs((std::string(error.what()) + "\n").c_str(), stderr);  // one write, so that lines of several PEs do not mix
  return 1;
}
