#include "builders/report/json/plan_json.h"

#include <nlohmann/json.hpp>

#include "builders/budget/budget_limit.h"
#include "builders/plan/machine_memory.h"
#include "builders/report/json/named_bytes.h"
#include "builders/report/rows/plan_notes.h"
#include "builders/report/rows/plan_phrases.h"
#include "builders/report/rows/step_choice.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

Json JsonOf(const StepPlan& step) {
  return {{"kind", std::string(NameOf(step.kind))},
          {"batch", step.batch},
          {"flops", step.flops},
          {"recomputed_flops", step.recomputed_flops},
          {"peak_bytes", PeakBytesOf(step)},
          {"arena_bytes", step.layout.arena_bytes},
          {"live_lower_bound_bytes", step.layout.lower_bound_bytes},
          {"allocations", step.layout.items.size()},
          {"baseline", NamedBytes(step.baseline)}};
}

Json JsonOf(const LayerPlan& layer) {
  const auto extents = layer.output.extents();
  return {{"path", layer.path},
          {"description", layer.description},
          {"output", std::vector<std::int64_t>(extents.begin(), extents.end())},
          {"parameters", layer.parameters},
          {"kept_bytes", layer.saved_bytes},
          {"segment", layer.segment < 0 ? Json() : Json(layer.segment)},
          {"inner_segments", layer.inner_segments.count}};
}

Json JsonOf(const Holder& holder) {
  return {{"label", holder.label},
          {"purpose", std::string(NameOf(holder.tag))},
          {"bytes", holder.bytes}};
}

Json JsonOf(const SimultaneousBuffers& one) {
  return {{"label", one.label},
          {"purpose", std::string(NameOf(one.tag))},
          {"bytes", one.bytes},
          {"count", one.count}};
}

Json JsonOf(const std::optional<RecomputedStages::Bounds>& bounds) {
  if (!bounds) return nullptr;
  return {{"as_low", bounds->as_low}, {"within_budget", bounds->within_budget}};
}

Json JsonOf(const std::optional<BudgetPlan>& budget) {
  if (!budget) return nullptr;
  return {
      {"budget_bytes", budget->budget_bytes},
      {"source", SourceText(budget->origin)},
      {"planned_bytes", budget->planned_bytes},
      {"unconstrained_bytes", budget->unconstrained_bytes},
      {"predicted_slowdown", budget->predicted_slowdown},
      {"predicted_seconds", budget->predicted_seconds ? Json(*budget->predicted_seconds) : Json()},
      {"choices", ChoicePhrases(*budget)},
      {"bounds", JsonOf(budget->recomputed.bounds)},
      {"faster", budget->faster ? Json(FasterPhrase(*budget)) : Json()}};
}

Json JsonOf(const Plan& plan, const std::optional<PagingPlan>& paging) {
  if (!paging) return nullptr;
  Json tensors = Json::array();
  for (const Holder& tensor : paging->tensors) tensors.push_back(JsonOf(tensor));
  Json activations = Json::array();
  for (const Holder& kept : paging->activations) activations.push_back(JsonOf(kept));
  Json steps = Json::array();
  for (const StepPlan& step : plan.steps) {
    steps.push_back({{"kind", std::string(NameOf(step.kind))},
                     {"batch", step.batch},
                     {"read_bytes", step.paged.in_bytes},
                     {"written_bytes", step.paged.out_bytes}});
  }
  return {{"file", paging->file},
          {"file_bytes", paging->file_bytes},
          {"buffer_bytes", paging->buffer_bytes},
          {"steps", std::move(steps)},
          {"tensors", std::move(tensors)},
          {"activations", std::move(activations)}};
}

Json JsonOf(const Traffic& traffic) {
  return {{"bytes", traffic.bytes}, {"messages", traffic.messages}};
}

Json JsonOf(const DevicePlan& device) {
  return {{"replica", device.replica},
          {"stage", device.stage},
          {"first_layer", device.first_layer},
          {"last_layer", device.last_layer},
          {"layers", device.layers},
          {"parameters", device.parameters},
          {"micro_batches_in_flight", device.in_flight},
          {"peak_bytes", device.peak_bytes},
          {"bytes_at_peak", NamedBytes(device.at_peak)},
          {"flops", device.flops},
          {"page_file_bytes", device.page_file_bytes},
          {"sent_bytes", device.sent.Total().bytes},
          {"sent_messages", device.sent.Total().messages},
          {"sent",
           {{"next_stage", JsonOf(device.sent.next)},
            {"previous_stage", JsonOf(device.sent.previous)},
            {"pipeline", JsonOf(device.sent.pipeline)},
            {"replicas", JsonOf(device.sent.data)}}}};
}

template <class Item>
Json ListOf(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(JsonOf(item));
  return list;
}

Json JsonOf(const std::optional<DevicesPlan>& devices) {
  if (!devices) return nullptr;
  Json list = Json::array();
  for (const DevicePlan& device : devices->devices) list.push_back(JsonOf(device));
  const PipelineShares shares = SharesOf(devices->times);
  return {{"replicas", devices->replicas},
          {"stages", devices->stages},
          {"micro_batches", devices->micro_batches},
          {"threads", devices->threads},
          {"link_bytes", devices->link_bytes},
          {"schedule", NameOf(devices->schedule.kind)},
          {"predicted_shares",
           {{"work", shares.work}, {"uneven_stages", shares.uneven}, {"bubble", shares.bubble}}},
          {"each", list}};
}

Json JsonOf(const std::optional<PlannedSegments>& planned) {
  if (!planned) return nullptr;
  return {{"stated_peak_bytes", planned->stated_peak_bytes},
          {"segments", planned->segments},
          {"stages", planned->stages},
          {"every_n_layers", planned->every_n_layers},
          {"updates_in_backward", planned->updates_in_backward}};
}

Json JsonOf(const std::optional<KindsPlan>& kinds) {
  if (!kinds) return nullptr;
  return {{"attention_layers", kinds->attention_layers},
          {"residual_blocks", kinds->residual_blocks},
          {"nested_blocks", kinds->nested_blocks}};
}

Json JsonOf(const std::optional<RunsOfLayers>& runs) {
  if (!runs) return nullptr;
  return {{"every_n_layers", runs->every_n_layers}, {"peak_bytes", runs->peak_bytes}};
}

Json MachineJson(const PlannedTraining& planned, const SystemMemory& machine) {
  Json json = {{"limit_bytes", machine.LimitBytes()},
               {"limited_by", NameOf(machine.LimitKind())},
               {"physical_bytes", machine.physical_bytes},
               {"needed_bytes", NeededBytes(planned)},
               {"fits", FitsMachine(planned, machine)}};
  if (machine.available_bytes) json["available_bytes"] = *machine.available_bytes;
  if (machine.control_group_bytes > 0) json["control_group"] = machine.control_group;
  return json;
}

}  // namespace

std::string PlanJson(const PlannedTraining& planned, const SystemMemory* machine) {
  const Plan& plan = planned.plan;
  const StepPlan* step = MainStepOf(plan, planned.schedule.batch);
  Json json = {{"model", planned.config.model.name},
               {"parameters", plan.parameter_count},
               {"trainable_parameters", plan.trainable_count},
               {"batch", planned.schedule.batch},
               {"total_steps", plan.total_steps},
               {"peak_bytes", plan.peak_bytes},
               {"bytes_by_purpose", NamedBytes(plan.peak_by_purpose)},
               {"at_peak", NamedBytes(plan.at_peak)},
               {"arena_bytes", plan.arena_bytes},
               {"live_lower_bound_bytes", plan.live_lower_bound_bytes},
               {"arena_kept_bytes", plan.arena_kept_bytes},
               {"step_flops", step ? step->flops : 0.0},
               {"recomputed_flops", step ? step->recomputed_flops : 0.0},
               {"steps", ListOf(plan.steps)},
               {"layers", ListOf(plan.layers)},
               {"largest_holders", ListOf(plan.largest_holders)},
               {"side_by_side", step ? ListOf(step->side_by_side) : Json::array()},
               {"devices", JsonOf(plan.devices)},
               {"budget", JsonOf(plan.budget)},
               {"paging", JsonOf(plan, plan.paging)},
               {"planned_segments", JsonOf(plan.planned_segments)},
               {"kinds", JsonOf(plan.kinds)},
               {"least_runs", JsonOf(plan.least_runs)},
               {"notes", NotesOn(planned)}};
  if (machine != nullptr) json["machine"] = MachineJson(planned, *machine);
  // Names that are not UTF-8 must not keep the plan from being written.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace frugal
