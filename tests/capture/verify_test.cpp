#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "sdk/autograd/context.h"
#include "sdk/capture/calls/elementwise_calls.h"
#include "sdk/capture/calls/norm_calls.h"
#include "sdk/capture/recorder/capturing_backend.h"
#include "sdk/capture/replay.h"
#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/store/capture_writer.h"
#include "sdk/capture/verify/entry_verifier.h"
#include "sdk/capture/verify/verify_capture.h"
#include "sdk/capture/verify/workers.h"
#include "sdk/module/parameter_store.h"
#include "tests/capture/call_cases.h"
#include "tests/capture/recording.h"
#include "tests/capture/spoiled_backends.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal {
namespace {

using namespace testing;

constexpr std::int64_t kCases = 89;

void RecordAllCases(const std::string& directory, BackendKind kind) {
  Recording recording(directory, kind);
  for (const CallCase& one : AllCallCases()) {
    CallDraw draw(11);
    recording.Record(*one.make(draw));
  }
}

std::string Listed(const VerifyReport& report) {
  std::string text;
  for (const EntryResult& result : report.results) {
    if (result.status == EntryStatus::kPassed) continue;
    text += std::string(NameOf(result.status)) + " " + result.operation + " on " + result.backend +
            ": " + result.reason + "\n";
  }
  return text;
}

TEST_CASE("every call passes on both backends, and every wrong result fails on it") {
  for (const BackendKind kind : {BackendKind::kOneDnn, BackendKind::kEigen}) {
    const TempDir directory;
    RecordAllCases(directory.File("capture"), kind);
    for (const std::optional<DType> precision :
         {std::optional<DType>(), std::optional(DType::kF32), std::optional(DType::kF64)}) {
      const VerifyReport report =
          VerifyCapture(directory.File("capture"), {.precision = precision});
      INFO(Listed(report));
      CHECK(std::ssize(report.results) == 2 * kCases);
      // No result is taken for right that is zeros, a copy, swapped or in another order.
      CHECK(report.Count(EntryStatus::kPassed) == 2 * kCases);
      for (const EntryResult& result : report.results) {
        INFO(result.operation);
        CHECK(result.null_tests > 0);
        const bool as_recorded = result.backend == NameOf(kind) && !precision;
        CHECK((!as_recorded || result.same_bits()));
      }
    }
  }
}

TEST_CASE("one wrong element in what a kernel makes fails that kernel's entries alone") {
  const TempDir directory;
  RecordAllCases(directory.File("capture"), BackendKind::kOneDnn);
  for (const std::string kernel :
       {"linear_forward", "attention_backward", "adam", "conv_backward_weight", "gather",
        "softmax_forward", "norm_layer_backward"}) {
    SpoiledBackends spoiled(kernel);
    const VerifyOptions options{.backends = {BackendKind::kOneDnn},
                                .make_backend = spoiled.Maker()};
    const VerifyReport report = VerifyCapture(directory.File("capture"), options);
    INFO(kernel << "\n" << Listed(report));
    CHECK(report.Count(EntryStatus::kFailed) == 1);
    for (const EntryResult& result : report.results) {
      CHECK((result.operation == kernel) == (result.status == EntryStatus::kFailed));
    }
  }
}

TEST_CASE("values that rounding moves over the cut of a relu fail nothing") {
  const TempDir directory;
  for (const BackendKind kind : {BackendKind::kOneDnn, BackendKind::kEigen}) {
    const std::string path = directory.File(NameOf(kind));
    {
      Recording recording(path, kind);
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CallDraw draw(seed);
        NormBatchBackwardCall call;
        call.x = draw.Real({500, 16}), call.dy = draw.Real({500, 16});
        call.mean = draw.Real({16}, -0.1, 0.1), call.rstd = draw.Real({16}, 1.5, 2);
        call.weight = draw.Positive({16}), call.bias = draw.Real({16});
        for (std::size_t c = 0; c < 16; ++c) {  // one value of each channel comes to about 0
          float& x = call.x.values<float>()[c];
          x = call.mean.values<float>()[c] - call.bias.values<float>()[c] /
                                                 call.rstd.values<float>()[c] /
                                                 call.weight.values<float>()[c];
        }
        call.relu = true, call.dx = draw.Out({500, 16});
        call.dweight = draw.Out({16}), call.dbias = draw.Out({16});
        recording.Record(call);
      }
    }
    const VerifyReport report = VerifyCapture(path);
    INFO(Listed(report));
    CHECK(report.passed());
    CHECK(report.Count(EntryStatus::kPassed) == 40);
  }
}

TEST_CASE("an entry that crashes, hangs or is damaged is that entry's result") {
  const TempDir directory;
  const std::string path = directory.File("capture");
  {
    Recording recording(path);
    for (int i = 0; i < 5; ++i) {
      CallDraw draw(static_cast<std::uint64_t>(i));
      ScaleCall call;
      call.x = draw.Real({4, 5}), call.factor = i, call.y = draw.Out({4, 5});
      recording.Record(call);
    }
  }
  VerifyOptions options{.backends = {BackendKind::kEigen}, .timeout_seconds = 2};
  struct Bad final : CallSink {
    bool Wants(const Call&, const CallPlace&) override { return true; }
    void Before(Call& call, const CallPlace&) override {
      const double factor = static_cast<ScaleCall&>(call).factor;
      if (factor == 1) std::raise(SIGSEGV);
      if (factor == 2) std::this_thread::sleep_for(std::chrono::seconds(60));
    }
    void After(Call& call, const CallPlace&) override {
      auto& scale = static_cast<ScaleCall&>(call);
      if (scale.factor == 3) scale.y.values<float>()[2] = std::nanf("");
    }
  };
  Bad bad;
  MemoryLedger ledger;
  ParameterStore store(Heap(), ledger, {});
  std::unique_ptr<Context> context;
  options.make_backend = [&](BackendKind kind) {
    auto backend = std::make_unique<CapturingBackend>(MakeBackend(kind), bad);
    context = std::make_unique<Context>(Context::Parts{
        .backend = *backend, .ledger = ledger, .step_memory = Heap(), .parameters = store});
    context->set_training(true);
    backend->SetContext(context.get());
    return backend;
  };
  const VerifyReport report = VerifyCapture(path, options);
  REQUIRE(report.results.size() == 5);
  CHECK(report.results[1].status == EntryStatus::kCrashed);
  CHECK(report.results[1].reason.find("signal 11") != std::string::npos);
  CHECK(report.results[2].status == EntryStatus::kTookLong);
  CHECK(report.results[3].status == EntryStatus::kFailed);
  CHECK(report.results[3].reason.find("NaN") != std::string::npos);
  CHECK(report.results[4].status == EntryStatus::kPassed);
  // Entries that have a result are not done again.
  options.make_backend = {};
  options.resume = true;
  const VerifyReport again = VerifyCapture(path, options);
  CHECK(again.results.size() == 5);
  CHECK(again.results[1].status == EntryStatus::kCrashed);
  options.resume = false;
  const VerifyReport anew = VerifyCapture(path, options);
  CHECK(anew.Count(EntryStatus::kPassed) == 3);
  CHECK(anew.results[0].status == EntryStatus::kCannotTell);  // all zeros
  CHECK(anew.results[1].status == EntryStatus::kCannotTell);  // what went in
}

TEST_CASE("items go in batches by bytes, and one that is larger goes alone") {
  const auto batches = BatchesOf({{0, 10}, {1, 20}, {2, 200}, {3, 30}, {4, 70}, {5, 1}}, 100);
  std::vector<std::size_t> sizes;
  sizes.reserve(batches.size());
  for (const auto& batch : batches) sizes.push_back(batch.size());
  CHECK(sizes == std::vector<std::size_t>{2, 1, 2, 1});
}

TEST_CASE("verification goes on behind a first part, with as many processes as batches") {
  const TempDir directory;
  const std::string path = directory.File("capture");
  RecordAllCases(path, BackendKind::kOneDnn);
  VerifyOptions options{.backends = {BackendKind::kOneDnn}, .batch_bytes = 4096};
  const VerifyReport all = VerifyCapture(path, options);
  CHECK(all.Count(EntryStatus::kPassed) == kCases);
  // A process that ended in the middle left half of the lines, the last one torn.
  const std::string text = ReadAll(directory.File("capture/verify.jsonl"));
  directory.Write("capture/verify.jsonl", text.substr(0, text.size() / 2));
  const auto half = std::ranges::count(text.substr(0, text.size() / 2), '\n');
  std::int64_t done = 0;
  options.on_result = [&](const EntryResult&) { ++done; };
  options.resume = true;
  const VerifyReport rest = VerifyCapture(path, options);
  CHECK(done == kCases - half);
  CHECK(std::ssize(rest.results) == kCases);
}

}  // namespace
}  // namespace frugal
