#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

template <class T>
FieldTable RecurrentTable(const std::string& name) {
  return MakeFieldTable<T>(
      name, {MakeField("units", &RecurrentOptions::units, "Output features: the hidden state.",
                       Formerly("hidden", SizeLimits(true))),
             MakeField("bias", &RecurrentOptions::bias, "Whether both products have a bias.")});
}

FieldTable SequencePoolTable() {
  return MakeFieldTable<SequencePoolOptions>(
      "sequence_pool",
      {MakeChoice("mode", &SequencePoolOptions::mode, "What one vector stands for all positions.",
                  {{"mean", SequencePooling::kMean},
                   {"first", SequencePooling::kFirst},
                   {"last", SequencePooling::kLast}})});
}

template <RecurrentKind kKind, class Options>
std::unique_ptr<Layer> RecurrentOf(std::int64_t features, const Options& options) {
  return std::make_unique<RecurrentLayer>(kKind, features, options);
}

}  // namespace

std::vector<LayerType> SequenceTypes() {
  return {
      RowOf<ToSequenceOptions>(MakeFieldTable<ToSequenceOptions>("to_sequence", {}),
                               OfNothing<ToSequenceLayer>),
      RowOf<LstmOptions>(RecurrentTable<LstmOptions>("lstm"), RecurrentOf<RecurrentKind::kLstm>),
      RowOf<GruOptions>(RecurrentTable<GruOptions>("gru"), RecurrentOf<RecurrentKind::kGru>),
      RowOf<SequencePoolOptions>(SequencePoolTable(), OfOptions<SequencePoolLayer>)};
}

}  // namespace frugal
