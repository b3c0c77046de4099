/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * All-to-all of tokens, as in a mixture of experts: each PE has tokens for experts on any PE, and no PE has the counts
 * in advance. Each PE sends every PE its tokens with a signal that contains their number. It processes tokens in the
 * order of arrival and sends the results back.
 *   gdrkit run -n 2 -- ./shmem_tokens              one PE on each GPU
 *   gdrkit run -n 4 --emulated -- ./shmem_tokens   any machine
 * Tokens are in GPU memory and are sent in the order of a stream. Here the CPU is the expert; in your program it is a
 * GPU kernel in the same stream. */
#include <gdrkit/shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { width = 64, tokens = 100 }; /* floats of a token, tokens of a PE */

static int report(const char* what) {
  fprintf(stderr, "%s: %s\n", what, gdrkit_shmem_last_error());
  return 1;
}

/* Space for the tokens of each PE, and one word for each: 1 + number of tokens. */
struct inbox {
  float* tokens;
  uint64_t* counts;
};

static int make_inbox(int n_pes, struct inbox* inbox) {
  const int result = gdrkit_shmem_float_calloc((size_t)n_pes * tokens * width, &inbox->tokens);
  return result != 0 ? result : gdrkit_shmem_uint64_calloc((size_t)n_pes, &inbox->counts);
}

/* Sends `count` tokens to the inbox space of this PE on PE `to`. */
static int send(const struct inbox* inbox, const float* source, size_t count, int to, int pe, void* stream) {
  return gdrkit_shmem_put_signal_on_stream(inbox->tokens + (size_t)pe * tokens * width, source,
                                           count * width * sizeof(float), inbox->counts + pe, 1 + count,
                                           GDRKIT_SHMEM_SIGNAL_SET, to, stream);
}

/* Waits for tokens of any PE that is not `done` yet. Returns that PE, or -1 on failure. */
static int next_sender(const struct inbox* inbox, const int* done, int n_pes) {
  const uint64_t nothing = 0;
  const struct gdrkit_shmem_words words = {
      inbox->counts, (size_t)n_pes, GDRKIT_SHMEM_UINT64, GDRKIT_SHMEM_NE, &nothing, 1, done};
  size_t sender = 0;
  return gdrkit_shmem_wait_until_any(&words, &sender) == 0 ? (int)sender : -1;
}

/* Fetches the tokens from PE `from`. Returns their number, or -1 on failure. */
static long receive(const struct inbox* inbox, float* into, int from, int pe) {
  uint64_t count = 0;
  if (gdrkit_shmem_signal_fetch(inbox->counts + from, &count) != 0 ||
      gdrkit_shmem_float_get(into, inbox->tokens + (size_t)from * tokens * width, (count - 1) * width, pe) != 0) {
    return -1;
  }
  return (long)count - 1;
}

static float value_of(int pe, int token, int i) { return (float)(1000 * pe + token) + (float)i / width; }
static int expert_of(int pe, int token, int n_pes) { return (pe + token * token) % n_pes; }

/* Own tokens, sorted by the PE of their expert: those for PE i begin at first[i]. */
static void sort_tokens(float* sorted, int* origin, int* first, int pe, int n_pes) {
  int placed = 0;
  for (int to = 0; to < n_pes; ++to) {
    first[to] = placed;
    for (int token = 0; token < tokens; ++token) {
      if (expert_of(pe, token, n_pes) != to) continue;
      for (int i = 0; i < width; ++i) sorted[placed * width + i] = value_of(pe, token, i);
      origin[placed++] = token;
    }
  }
  first[n_pes] = placed;
}

static int dispatch_and_combine(int pe, int n_pes, void* stream, float* sorted, float* work, const int* first,
                                int* done) {
  struct inbox to_experts, from_experts;
  if (make_inbox(n_pes, &to_experts) != 0 || make_inbox(n_pes, &from_experts) != 0) return report("allocating");
  if (from_experts.counts == NULL) return report("allocating");
  for (int step = 0; step < n_pes; ++step) { /* every PE begins with a different one */
    const int to = (pe + step) % n_pes;
    if (send(&to_experts, sorted + first[to] * width, (size_t)(first[to + 1] - first[to]), to, pe, stream) != 0) {
      return report("sending tokens");
    }
  }
  /* The expert doubles each number and sends the tokens back. */
  for (int came = 0; came < n_pes; ++came) {
    const int from = next_sender(&to_experts, done, n_pes);
    float* const batch = work + (size_t)came * tokens * width;
    const long count = from < 0 ? -1 : receive(&to_experts, batch, from, pe);
    if (count < 0) return report("receiving tokens");
    for (long i = 0; i < count * width; ++i) batch[i] *= 2;
    if (send(&from_experts, batch, (size_t)count, from, pe, stream) != 0) return report("sending results");
    done[from] = 1;
  }
  /* Sources may be overwritten after the stream has completed. */
  if (gdrkit_shmem_stream_synchronize(stream) != 0) return report("sending");
  for (int from = 0; from < n_pes; ++from) done[from] = 0;
  for (int came = 0; came < n_pes; ++came) {
    const int from = next_sender(&from_experts, done, n_pes);
    const long count = from < 0 ? -1 : receive(&from_experts, sorted + first[from] * width, from, pe);
    if (count != first[from + 1] - first[from]) return report("receiving results");
    done[from] = 1;
  }
  return 0;
}

static int play(int pe, int n_pes) {
  float* const sorted = malloc(sizeof(float) * tokens * width);
  float* const work = malloc(sizeof(float) * (size_t)n_pes * tokens * width);
  int* const first = calloc((size_t)n_pes + 1, sizeof(int));
  int* const done = calloc((size_t)n_pes, sizeof(int));
  int origin[tokens], wrong = 0;
  void* stream = NULL;
  if (gdrkit_shmem_stream_create(&stream) != 0) return report("creating a stream");
  sort_tokens(sorted, origin, first, pe, n_pes);
  if (dispatch_and_combine(pe, n_pes, stream, sorted, work, first, done) != 0) return 1;
  for (int place = 0; place < tokens; ++place) {
    for (int i = 0; i < width; ++i) wrong += sorted[place * width + i] != 2 * value_of(pe, origin[place], i);
  }
  if (wrong != 0) {
    fprintf(stderr, "PE %d: %d numbers are wrong\n", pe, wrong);
  } else {
    printf("PE %d of %d: %d tokens of %d numbers went to their experts and back\n", pe, n_pes, tokens, width);
  }
  (void)gdrkit_shmem_stream_destroy(stream);
  free(done);
  free(first);
  free(work);
  free(sorted);
  return wrong != 0;
}

int main(void) {
  setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* line-buffered, so that lines of several PEs do not mix */
  if (gdrkit_shmem_init(NULL) != 0) return report("init");
  const int result = play(gdrkit_shmem_my_pe(), gdrkit_shmem_n_pes());
  if (gdrkit_shmem_finalize() != 0) return report("finalize");
  return result;
}
