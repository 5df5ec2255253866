#include "sdk/backend/onednn/attention.h"

#include <omp.h>

#include "sdk/backend/backend.h"
#include "sdk/backend/eigen/parallel.h"
#include "sdk/backend/onednn/attention_tiles.h"

namespace frugal {
namespace {

using onednn::AttentionInputs;
using onednn::AttentionPlan;
using onednn::Carver;

std::int64_t ThreadsFor(const AttentionPlan& plan) {
  return std::min<std::int64_t>(ThreadCount(), plan.Tasks());
}

template <class Tiles>
std::int64_t BytesPerThread(const AttentionInputs& inputs) {
  Carver counter(nullptr);
  Tiles(inputs, counter);
  return counter.bytes();
}

// Sums of dk and dv: one per task where the tasks of a key head are added up at the end, else one
// per thread.
std::int64_t SumBytes(const AttentionInputs& inputs) {
  const AttentionPlan& plan = inputs.plan;
  const std::int64_t slots = plan.chunks > 1 ? plan.Tasks() : ThreadsFor(plan);
  return RoundUpToAlignment(slots * onednn::KeySums::Elements(inputs.geometry, plan) * 4);
}

// body(tiles, task, thread) for all tasks, each thread with tiles of its own in scratch. Tasks are
// handed out as threads come free, which no result depends on.
template <class Tiles, class Body>
void ForTasks(const AttentionInputs& inputs, void* scratch, const Body& body) {
  const std::int64_t tasks = inputs.plan.Tasks(), bytes = BytesPerThread<Tiles>(inputs);
  if (tasks == 0) return;
  const int threads = static_cast<int>(ThreadsFor(inputs.plan));
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const std::int64_t thread = omp_get_thread_num();
    Carver carver(static_cast<char*>(scratch) + thread * bytes);
    Tiles tiles(inputs, carver);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t task = 0; task < tasks; ++task) body(tiles, task, thread);
  }
}

}  // namespace

std::int64_t OneDnnAttentionKernels::ForwardScratch(const AttentionGeometry& g, DType dtype) const {
  if (dtype != DType::kF32) return EigenAttentionKernels::ForwardScratch(g, dtype);
  const AttentionPlan plan(g);
  return ThreadsFor(plan) * BytesPerThread<onednn::ForwardTiles>({g, plan, loops_, {}, {}, {}, {}});
}

void OneDnnAttentionKernels::Forward(const AttentionGeometry& g, const HeadsView& q,
                                     const HeadsView& k, const HeadsView& v, const Tensor& mask,
                                     const Tensor& y, const Tensor& log_sum_exp, void* scratch) {
  if (y.dtype() != DType::kF32) {
    EigenAttentionKernels::Forward(g, q, k, v, mask, y, log_sum_exp, scratch);
    return;
  }
  const AttentionPlan plan(g);
  const AttentionInputs inputs{g, plan, loops_, q, k, v, mask};
  ForTasks<onednn::ForwardTiles>(inputs, scratch,
                                 [&](onednn::ForwardTiles& tiles, std::int64_t task, std::int64_t) {
                                   tiles.RunTask(task, y, log_sum_exp);
                                 });
}

std::int64_t OneDnnAttentionKernels::BackwardScratch(const AttentionGeometry& g,
                                                     DType dtype) const {
  if (dtype != DType::kF32) return EigenAttentionKernels::BackwardScratch(g, dtype);
  const AttentionPlan plan(g);
  const AttentionInputs inputs{g, plan, loops_, {}, {}, {}, {}};
  return SumBytes(inputs) + ThreadsFor(plan) * BytesPerThread<onednn::BackwardTiles>(inputs);
}

void OneDnnAttentionKernels::Backward(const AttentionGeometry& g, const Tensor& dy,
                                      const HeadsView& q, const HeadsView& k, const HeadsView& v,
                                      const Tensor& mask, const Tensor& y,
                                      const Tensor& log_sum_exp, const HeadsView& dq,
                                      const HeadsView& dk, const HeadsView& dv, void* scratch) {
  if (y.dtype() != DType::kF32) {
    EigenAttentionKernels::Backward(g, dy, q, k, v, mask, y, log_sum_exp, dq, dk, dv, scratch);
    return;
  }
  const AttentionPlan plan(g);
  const AttentionInputs inputs{g, plan, loops_, q, k, v, mask};
  const bool adds_up = plan.chunks > 1;
  float* const sums = static_cast<float*>(scratch);
  const auto write = [&](const onednn::KeyRange& range, std::int64_t slot) {
    onednn::WriteKeyGradients(inputs, range, sums, slot, plan.chunks, dk, dv);
  };
  ForTasks<onednn::BackwardTiles>(
      inputs, static_cast<char*>(scratch) + SumBytes(inputs),
      [&](onednn::BackwardTiles& tiles, std::int64_t task, std::int64_t thread) {
        const std::int64_t slot = adds_up ? task : thread;
        tiles.RunTask(task, {dy, y, log_sum_exp}, dq, KeySumsAt(inputs, sums, slot));
        if (!adds_up) write({task, 0, g.key_length}, slot);
      });
  if (!adds_up) return;
  const std::int64_t positions = eigen::RowsPerChunk(plan.padded_head);
  for (std::int64_t key_head = 0; key_head < plan.key_heads; ++key_head) {
    eigen::ParallelFor(g.key_length, positions, [&](std::int64_t begin, std::int64_t end) {
      write({key_head, begin, end}, key_head * plan.chunks);
    });
  }
}

}  // namespace frugal
