#include "sdk/module/repeat.h"

#include "sdk/module/parameter_store.h"

namespace frugal {

ManyTurns::ManyTurns(Context& context, std::int64_t times)
    : context_(context),
      times_(times),
      flops_(context.profile().flops),
      recomputed_flops_(context.profile().recomputed_flops),
      launches_(context.profile().launches) {
  if (const MemoryTrace* trace = context.ledger().trace()) turn_ = trace->BeginTurn();
  if (const TensorPager* pager = context.parameters().pager()) paged_ = pager->step_traffic();
  if (IsDry(context)) contributions_ = context.parameters().Contributions();
}

ManyTurns::~ManyTurns() {
  if (MemoryTrace* trace = context_.ledger().trace()) trace->EndTurn(turn_, times_);
  if (!IsDry(context_)) return;
  context_.parameters().RepeatContributions(contributions_, times_);
  if (TensorPager* pager = context_.parameters().pager()) pager->RepeatTraffic(paged_, times_);
  Profile& profile = context_.profile();
  const auto times = static_cast<double>(times_);
  profile.flops = flops_ + times * (profile.flops - flops_);
  profile.recomputed_flops =
      recomputed_flops_ + times * (profile.recomputed_flops - recomputed_flops_);
  profile.launches = launches_ + times_ * (profile.launches - launches_);
}

}  // namespace frugal
