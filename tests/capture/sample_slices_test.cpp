// Entries that are taken by the samples of their batch, where all of it is more than a budget.
#include "sdk/capture/calls/attention_calls.h"
#include "sdk/capture/calls/conv_calls.h"
#include "sdk/capture/calls/norm_calls.h"
#include "sdk/capture/calls/pool_calls.h"
#include "sdk/capture/replay.h"
#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/verify/entry_slices.h"
#include "sdk/capture/verify/entry_verifier.h"
#include "tests/capture/call_cases.h"
#include "tests/capture/recording.h"
#include "tests/capture/spoiled_backends.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal {
namespace {

using namespace testing;

constexpr std::int64_t kBatch = 13, kChannels = 16, kSide = 24, kLength = 40, kHeads = 4,
                       kSize = 16;
constexpr std::int64_t kWidth = kHeads * kSize;

const Shape kImages = {kBatch, kSide, kSide, kChannels};
const Shape kPooled = {kBatch, kSide / 2, kSide / 2, kChannels};
const Shape kRows = {kBatch, kLength, kWidth};
const Shape kThreeRows = {kBatch, kLength, 3 * kWidth};

ConvGeometry Conv() {
  return {.window = {.batch = kBatch,
                     .input = {1, kSide, kSide},
                     .output = {1, kSide, kSide},
                     .kernel = {1, 3, 3},
                     .padding_begin = {0, 1, 1},
                     .padding_end = {0, 1, 1}},
          .input_channels = kChannels,
          .output_channels = kChannels,
          .groups = 1};
}

PoolGeometry Pool() {
  return {.window = {.batch = kBatch,
                     .input = {1, kSide, kSide},
                     .output = {1, kSide / 2, kSide / 2},
                     .kernel = {1, 2, 2},
                     .stride = {1, 2, 2}},
          .channels = kChannels};
}

AttentionGeometry Attention() {
  return {.batch = kBatch,
          .query_length = kLength,
          .key_length = kLength,
          .heads = kHeads,
          .key_heads = kHeads,
          .head_size = kSize,
          .scale = 0.25};
}

void FillHeads(const Tensor& all, HeadsView& q, HeadsView& k, HeadsView& v) {
  q = {all, 0}, k = {all, kWidth}, v = {all, 2 * kWidth};
}

void FillAttention(AttentionForwardCall& c, CallDraw& d, std::int64_t masks) {
  c.g = Attention();
  FillHeads(d.Real(kThreeRows), c.q, c.k, c.v);
  c.mask = d.Real({masks, 1, kLength, kLength});
  c.y = CallDraw::Out(kRows), c.log_sum_exp = CallDraw::Out({kBatch, kHeads, kLength});
}

void FillAttentionBackward(AttentionBackwardCall& c, CallDraw& d) {
  AttentionForwardCall forward;
  FillAttention(forward, d, kBatch);
  const auto backend = MakeEigenBackend();
  RunCall(forward, *backend, Heap());
  c.g = forward.g, c.q = forward.q, c.k = forward.k, c.v = forward.v, c.mask = forward.mask;
  c.y = forward.y, c.log_sum_exp = forward.log_sum_exp, c.dy = d.Real(kRows);
  FillHeads(CallDraw::Out(kThreeRows), c.dq, c.dk, c.dv);
}

std::vector<CallCase> Cases() {
  return {
      CaseOf<ConvForwardCall>([](auto& c, CallDraw& d) {
        c.g = Conv(), c.x = d.Real(kImages), c.weight = d.Real({kChannels, kChannels, 3, 3});
        c.bias = d.Real({kChannels}), c.y = d.Out(kImages);
      }),
      CaseOf<ConvBackwardDataCall>([](auto& c, CallDraw& d) {
        c.g = Conv(), c.dy = d.Real(kImages), c.weight = d.Real({kChannels, kChannels, 3, 3});
        c.dx = d.Out(kImages);
      }),
      CaseOf<PoolMaxForwardCall>(
          [](auto& c, CallDraw& d) { c.g = Pool(), c.x = d.Real(kImages), c.y = d.Out(kPooled); }),
      CaseOf<PoolMaxBackwardCall>([](auto& c, CallDraw& d) {
        c.g = Pool(), c.x = d.Real(kImages), c.dy = d.Real(kPooled), c.dx = d.Out(kImages);
      }),
      CaseOf<PoolAverageForwardCall>(
          [](auto& c, CallDraw& d) { c.g = Pool(), c.x = d.Real(kImages), c.y = d.Out(kPooled); }),
      CaseOf<PoolAverageBackwardCall>([](auto& c, CallDraw& d) {
        c.g = Pool(), c.dy = d.Real(kPooled), c.dx = d.Out(kImages);
      }),
      CaseOf<PoolAdaptiveForwardCall>(
          [](auto& c, CallDraw& d) { c.g = Pool(), c.x = d.Real(kImages), c.y = d.Out(kPooled); }),
      CaseOf<PoolAdaptiveBackwardCall>([](auto& c, CallDraw& d) {
        c.g = Pool(), c.dy = d.Real(kPooled), c.dx = d.Out(kImages);
      }),
      CaseOf<NormGroupForwardCall>([](auto& c, CallDraw& d) {
        c.g = {.batch = kBatch, .size = kSide * kSide, .channels = kChannels, .groups = 4};
        c.epsilon = 1e-5, c.x = d.Real(kImages), c.weight = d.Real({kChannels});
        c.bias = d.Real({kChannels}), c.y = d.Out(kImages);
        c.mean = d.Out({kBatch, 4}), c.rstd = d.Out({kBatch, 4});
      }),
      CaseOf<AttentionForwardCall>([](auto& c, CallDraw& d) { FillAttention(c, d, 1); }),
      CaseOf<AttentionForwardCall>([](auto& c, CallDraw& d) { FillAttention(c, d, kBatch); }),
      CaseOf<AttentionBackwardCall>(FillAttentionBackward),
  };
}

TEST_CASE("windows, attention and group norms are taken by samples where all is too much") {
  const TempDir directory;
  const std::string path = directory.File("capture");
  {
    Recording recording(path);
    for (const CallCase& one : Cases()) {
      CallDraw draw(5);
      recording.Record(*one.make(draw));
    }
  }
  CaptureReader reader(path);
  REQUIRE(reader.entries().size() == Cases().size());
  for (const CaptureEntry& entry : reader.entries()) {
    for (const BackendKind kind : {BackendKind::kOneDnn, BackendKind::kEigen}) {
      INFO(entry.Describe() << " on " << NameOf(kind));
      const std::int64_t all = EntrySlices(entry).NeededBytes(0);
      const auto backend = MakeBackend(kind);
      const EntryResult whole = EntryVerifier(reader, *backend, {}, 4 * all).Verify(entry);
      INFO(whole.reason);
      CHECK(whole.status == EntryStatus::kPassed);
      const EntryResult cut = EntryVerifier(reader, *backend, {}, all / 3).Verify(entry);
      INFO(cut.reason);
      CHECK(cut.status == EntryStatus::kPassed);
      CHECK(cut.slices > 2);
      CHECK(EntryVerifier(reader, *backend, {}, all / 40).Verify(entry).status ==
            EntryStatus::kTooLarge);
    }
    SpoiledBackends spoiled(entry.call.kernel);
    const auto backend = spoiled.Maker()(BackendKind::kOneDnn);
    INFO(entry.Describe() << ", spoiled");
    CHECK(EntryVerifier(reader, *backend, {}, EntrySlices(entry).NeededBytes(0) / 3)
              .Verify(entry)
              .status == EntryStatus::kFailed);
  }
}

}  // namespace
}  // namespace frugal
