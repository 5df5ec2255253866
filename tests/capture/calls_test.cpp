#include <algorithm>
#include <set>

#include "sdk/autograd/context.h"
#include "sdk/capture/call_description.h"
#include "sdk/capture/calls/all_calls.h"
#include "sdk/capture/recorder/capturing_backend.h"
#include "sdk/capture/replay.h"
#include "sdk/module/parameter_store.h"
#include "tests/capture/call_cases.h"
#include "tests/catch.h"

namespace frugal {
namespace {

using namespace testing;

constexpr auto kBackends = {BackendKind::kOneDnn, BackendKind::kEigen};

TEST_CASE("every call has a case, and every case is a call that there is") {
  std::set<std::string_view> cases;
  for (const CallCase& one : AllCallCases()) cases.insert(one.name);
  const std::vector<std::string_view> names = CallNames();
  CHECK(std::ranges::equal(cases, std::set(names.begin(), names.end())));
  CHECK(MakeCall("no_such_call") == nullptr);
}

TEST_CASE("a call that is made again from its description gives the same bits") {
  for (const BackendKind kind : kBackends) {
    const auto backend = MakeBackend(kind);
    for (const CallCase& one : AllCallCases()) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        INFO(one.name << " on " << NameOf(kind) << ", seed " << seed);
        CallDraw draw(seed);
        const std::unique_ptr<Call> first = one.make(draw);
        const CallDescription before = Copied(Describe(*first), std::nullopt, Heap());
        RunCall(*first, *backend, Heap());
        const std::vector<Tensor> expected = WrittenBy(*first, before, Heap());
        REQUIRE(!expected.empty());

        const std::unique_ptr<Call> again = MakeCall(Copied(before, std::nullopt, Heap()));
        RunCall(*again, *backend, Heap());
        const std::vector<Tensor> got = WrittenBy(*again, before, Heap());
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(SameBits(got[i], expected[i]));
      }
    }
  }
}

// Takes down the names of what it is shown, and what was written.
class Listener final : public CallSink {
 public:
  std::vector<std::string> names;
  std::vector<Tensor> written;

  bool Wants(const Call&, const CallPlace&) override { return true; }
  void Before(Call& call, const CallPlace&) override { names.emplace_back(call.name()); }
  void After(Call& call, const CallPlace&) override {
    written = WrittenBy(call, Describe(call), Heap());
  }
};

TEST_CASE("a capturing backend shows each kernel's call and computes as the one within") {
  const auto plain = MakeOneDnnBackend();
  Listener listener;
  CapturingBackend capturing(MakeOneDnnBackend(), listener);
  MemoryLedger ledger;
  ParameterStore store(Heap(), ledger, {});
  Context context(
      {.backend = capturing, .ledger = ledger, .step_memory = Heap(), .parameters = store});
  context.set_training(true);
  capturing.SetContext(&context);
  for (const CallCase& one : AllCallCases()) {
    INFO(one.name);
    CallDraw draw(5), draw_again(5);
    const std::unique_ptr<Call> first = one.make(draw), second = one.make(draw_again);
    RunCall(*first, *plain, Heap());
    second->Prepare(*plain, Heap());
    listener.names.clear();
    const Tensor scratch = ScratchOf(second->Scratch(capturing));
    second->Run(capturing, scratch.raw());
    CHECK(std::ranges::count(listener.names, std::string(one.name)) == 1);
    const std::vector<Tensor> expected = WrittenBy(*first, Describe(*first), Heap());
    REQUIRE(listener.written.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(SameBits(listener.written[i], expected[i]));
    }
  }
  context.set_training(false);
  listener.names.clear();
  capturing.elementwise().Fill(Uninitialized({3}), 1);
  CHECK(listener.names.empty());
}

}  // namespace
}  // namespace frugal
