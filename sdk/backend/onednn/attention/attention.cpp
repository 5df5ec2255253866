#include "sdk/backend/onednn/attention/attention.h"

#include <initializer_list>
#include <numbers>
#include <string>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/attention/amx_attention.h"
#include "sdk/backend/onednn/attention/backward_tiles.h"
#include "sdk/backend/onednn/attention/forward_tiles.h"
#include "sdk/backend/onednn/attention/score_tiles.h"
#include "sdk/core/error.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

using onednn::AttentionInputs;
using onednn::AttentionPlan;
using onednn::BumpAllocator;

std::int64_t ThreadsFor(const AttentionPlan& plan) {
  return std::min<std::int64_t>(ThreadCount(), plan.Tasks());
}

template <class Tiles>
std::int64_t BytesPerThread(const AttentionInputs& inputs) {
  BumpAllocator counter(nullptr);
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
// handed out as threads come free, which no result depends on; some in a row, since a task may
// fetch what the next one reads.
template <class Tiles, class Body>
void ForTasks(const AttentionInputs& inputs, void* scratch, const Body& body) {
  const std::int64_t tasks = inputs.plan.Tasks(), bytes = BytesPerThread<Tiles>(inputs);
  if (tasks == 0) return;
  const int threads = static_cast<int>(ThreadsFor(inputs.plan));
  const std::int64_t in_a_row = std::clamp<std::int64_t>(tasks / (8 * threads), 1, 4);
  SharedTasks shared(tasks, in_a_row);
  RunTeam(threads, [&] {
    const std::int64_t thread = ThreadNumber();
    BumpAllocator own(static_cast<char*>(scratch) + thread * bytes);
    Tiles tiles(inputs, own);
    shared.Work([&](std::int64_t task) { body(tiles, task, thread); });
  });
}

void CheckTypes(const char* where, std::initializer_list<const Tensor*> alike, const Tensor& mask,
                const Tensor& log_sum_exp) {
  const DType dtype = (*alike.begin())->dtype();
  for (const Tensor* tensor : alike) {
    if (tensor->dtype() == dtype) continue;
    throw UsageError(
        {.where = where,
         .required = "tensors of one element type",
         .given = std::string(NameOf(dtype)) + " and " + std::string(NameOf(tensor->dtype())),
         .advice = "convert them to one type"});
  }
  const bool mask_fits = !mask || mask.dtype() == DType::kF32 || mask.dtype() == dtype;
  if (mask_fits && log_sum_exp.dtype() == DType::kF32) return;
  throw UsageError(
      {.where = where,
       .required = "a mask of f32 or " + std::string(NameOf(dtype)) + " and a log-sum-exp of f32",
       .given = std::string(mask ? NameOf(mask.dtype()) : "no mask") + " and " +
                std::string(NameOf(log_sum_exp.dtype())),
       .advice = "convert them"});
}

bool IsOurs(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16; }

// Tiles of f32 or matrix tiles, and how they cut the work.
struct FloatTiles {
  using ForwardTiles = onednn::ForwardTiles;
  using BackwardTiles = onednn::BackwardTiles;
  static AttentionPlan ForwardPlan(const AttentionGeometry& g) { return AttentionPlan(g); }
  static AttentionPlan BackwardPlan(const AttentionGeometry& g) { return AttentionPlan(g); }
  static float KeyFactor(const AttentionGeometry&) { return std::numbers::ln2_v<float>; }
  static constexpr auto kRound = onednn::RoundRows;
};
struct AmxTiles {
  using ForwardTiles = onednn::AmxForwardTiles;
  using BackwardTiles = onednn::AmxBackwardTiles;
  static AttentionPlan ForwardPlan(const AttentionGeometry& g) { return onednn::AmxForwardPlan(g); }
  static AttentionPlan BackwardPlan(const AttentionGeometry& g) {
    return onednn::AmxBackwardPlan(g);
  }
  static float KeyFactor(const AttentionGeometry& g) { return static_cast<float>(g.scale); }
  static constexpr auto kRound = onednn::RoundRowsAtOnce;
};

// Implements the four calls with one kind of tiles.
template <class Kind>
struct Attention {
  const simd::AttentionLoops& loops;
  DType dtype;

  std::int64_t ForwardScratch(const AttentionGeometry& g) const {
    const AttentionPlan plan = Kind::ForwardPlan(g);
    return ThreadsFor(plan) *
           BytesPerThread<typename Kind::ForwardTiles>({g, plan, loops, {}, {}, {}, {}, dtype});
  }
  std::int64_t BackwardScratch(const AttentionGeometry& g) const {
    const AttentionPlan plan = Kind::BackwardPlan(g);
    const AttentionInputs inputs{g, plan, loops, {}, {}, {}, {}, dtype};
    return SumBytes(inputs) +
           ThreadsFor(plan) * BytesPerThread<typename Kind::BackwardTiles>(inputs);
  }
  void Forward(const AttentionInputs& inputs, const Tensor& y, const Tensor& log_sum_exp,
               void* scratch) const {
    using Tiles = typename Kind::ForwardTiles;
    ForTasks<Tiles>(inputs, scratch, [&](Tiles& tiles, std::int64_t task, std::int64_t) {
      tiles.RunTask(task, y, log_sum_exp);
    });
  }
  void Backward(const AttentionInputs& inputs, const onednn::BackwardInputs& given,
                const HeadsView& dq, const HeadsView& dk, const HeadsView& dv, void* scratch) const;
};

template <class Kind>
void Attention<Kind>::Backward(const AttentionInputs& inputs, const onednn::BackwardInputs& given,
                               const HeadsView& dq, const HeadsView& dk, const HeadsView& dv,
                               void* scratch) const {
  using Tiles = typename Kind::BackwardTiles;
  const AttentionPlan& plan = inputs.plan;
  const std::int64_t keys = inputs.geometry.key_length;
  const bool adds_up = plan.chunks > 1;
  float* const sums = static_cast<float*>(scratch);
  const onednn::KeyGradients to{dk, dv, Kind::KeyFactor(inputs.geometry), Kind::kRound};
  const auto write = [&](const onednn::KeyRange& range, std::int64_t slot) {
    onednn::WriteKeyGradients(inputs, range, sums, slot, plan.chunks, to);
  };
  ForTasks<Tiles>(inputs, static_cast<char*>(scratch) + SumBytes(inputs),
                  [&](Tiles& tiles, std::int64_t task, std::int64_t thread) {
                    const std::int64_t slot = adds_up ? task : thread;
                    tiles.RunTask(task, given, dq, KeySumsAt(inputs, sums, slot));
                    if (!adds_up) write({task, 0, keys}, slot);
                  });
  if (!adds_up) return;
  const std::int64_t positions = eigen::RowsPerChunk(plan.padded_head);
  for (std::int64_t key_head = 0; key_head < plan.key_heads; ++key_head) {
    eigen::ParallelFor(keys, positions, [&](std::int64_t begin, std::int64_t end) {
      write({key_head, begin, end}, key_head * plan.chunks);
    });
  }
}

}  // namespace

std::int64_t OneDnnAttentionKernels::ForwardScratch(const AttentionGeometry& g, DType dtype) const {
  if (!IsOurs(dtype)) return EigenAttentionKernels::ForwardScratch(g, dtype);
  if (OnAmxTiles(dtype)) return Attention<AmxTiles>{loops_, dtype}.ForwardScratch(g);
  return Attention<FloatTiles>{loops_, dtype}.ForwardScratch(g);
}

std::int64_t OneDnnAttentionKernels::BackwardScratch(const AttentionGeometry& g,
                                                     DType dtype) const {
  if (!IsOurs(dtype)) return EigenAttentionKernels::BackwardScratch(g, dtype);
  if (OnAmxTiles(dtype)) return Attention<AmxTiles>{loops_, dtype}.BackwardScratch(g);
  return Attention<FloatTiles>{loops_, dtype}.BackwardScratch(g);
}

void OneDnnAttentionKernels::Forward(const AttentionGeometry& g, const HeadsView& q,
                                     const HeadsView& k, const HeadsView& v, const Tensor& mask,
                                     const Tensor& y, const Tensor& log_sum_exp, void* scratch) {
  const DType dtype = y.dtype();
  if (!IsOurs(dtype)) {
    EigenAttentionKernels::Forward(g, q, k, v, mask, y, log_sum_exp, scratch);
    return;
  }
  CheckTypes("attention", {&y, &q.tensor, &k.tensor, &v.tensor}, mask, log_sum_exp);
  const auto run = [&]<class Kind>(const Attention<Kind>& attention) {
    const AttentionPlan plan = Kind::ForwardPlan(g);
    attention.Forward({g, plan, loops_, q, k, v, mask, dtype}, y, log_sum_exp, scratch);
  };
  if (OnAmxTiles(dtype)) {
    run(Attention<AmxTiles>{loops_, dtype});
  } else {
    run(Attention<FloatTiles>{loops_, dtype});
  }
}

void OneDnnAttentionKernels::Backward(const AttentionGeometry& g, const Tensor& dy,
                                      const HeadsView& q, const HeadsView& k, const HeadsView& v,
                                      const Tensor& mask, const Tensor& y,
                                      const Tensor& log_sum_exp, const HeadsView& dq,
                                      const HeadsView& dk, const HeadsView& dv, void* scratch) {
  const DType dtype = y.dtype();
  if (!IsOurs(dtype)) {
    EigenAttentionKernels::Backward(g, dy, q, k, v, mask, y, log_sum_exp, dq, dk, dv, scratch);
    return;
  }
  CheckTypes("attention's gradient",
             {&y, &dy, &q.tensor, &k.tensor, &v.tensor, &dq.tensor, &dk.tensor, &dv.tensor}, mask,
             log_sum_exp);
  const auto run = [&]<class Kind>(const Attention<Kind>& attention) {
    const AttentionPlan plan = Kind::BackwardPlan(g);
    attention.Backward({g, plan, loops_, q, k, v, mask, dtype}, {dy, y, log_sum_exp, dk, dv}, dq,
                       dk, dv, scratch);
  };
  if (OnAmxTiles(dtype)) {
    run(Attention<AmxTiles>{loops_, dtype});
  } else {
    run(Attention<FloatTiles>{loops_, dtype});
  }
}

}  // namespace frugal
