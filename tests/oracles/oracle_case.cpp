#include "tests/oracles/oracle_case.h"

#include <fstream>

#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal::oracles {

namespace {

[[noreturn]] void RefuseIndex(const std::string& path, const std::string& given) {
  throw DataError(
      {.where = path,
       .required = "an index lists operations as [{op, case, attrs, inputs}, ...]",
       .given = given,
       .advice = "give a directory of the form that tests/oracles/README.md describes"});
}

std::vector<OracleCase> ParseIndex(const std::string& directory, std::istream& in) {
  std::vector<OracleCase> cases;
  for (const nlohmann::json& entry : nlohmann::json::parse(in)) {
    cases.push_back({.directory = directory,
                     .operation = entry.at("op"),
                     .number = entry.at("case"),
                     .attributes = entry.at("attrs"),
                     .inputs = entry.at("inputs")});
  }
  return cases;
}

}  // namespace

std::vector<OracleCase> ReadIndex(const std::string& directory) {
  const std::string path = directory + "/index.json";
  std::ifstream in(path);
  if (!in) RefuseIndex(path, "there is no such file, or it cannot be read");
  try {
    return ParseIndex(directory, in);
  } catch (const nlohmann::json::exception& error) {
    RefuseIndex(path, error.what());
  }
}

CaseFile::CaseFile(const OracleCase& one)
    : prefix_(std::to_string(one.number) + "/"),
      source_(OpenWeights(one.directory + "/" + one.operation + ".safetensors")) {}

std::string CaseFile::FullName(const std::string& name) const { return prefix_ + name; }

const StoredTensor& CaseFile::Entry(const std::string& name) const {
  const StoredTensor* entry = source_->Find(FullName(name));
  if (entry != nullptr) return *entry;
  throw DataError({.where = source_->Path(),
                   .required = "a tensor named " + FullName(name),
                   .given = "there is none",
                   .advice = "check the case in index.json"});
}

bool CaseFile::Has(const std::string& name) const {
  return source_->Find(FullName(name)) != nullptr;
}

std::vector<std::string> CaseFile::Gradients() const {
  const std::string start = FullName("grad/");
  std::vector<std::string> names;
  for (const StoredTensor& entry : source_->Entries()) {
    if (entry.name.starts_with(start)) names.push_back(entry.name.substr(start.size()));
  }
  return names;
}

Shape CaseFile::ShapeOf(const std::string& name) const { return Entry(name).shape; }

bool CaseFile::IsInteger(const std::string& name) const {
  return Entry(name).dtype == StoredDType::kI64;
}

bool CaseFile::IsBoolean(const std::string& name) const {
  return Entry(name).dtype == StoredDType::kBool;
}

std::vector<double> CaseFile::Read(const std::string& name) const {
  std::vector<double> values(static_cast<std::size_t>(ShapeOf(name).ElementCount()));
  source_->ReadAsF64(FullName(name), values);
  return values;
}

std::vector<std::int64_t> CaseFile::ReadIntegers(const std::string& name) const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(ShapeOf(name).ElementCount()));
  source_->ReadAsI64(FullName(name), values);
  return values;
}

}  // namespace frugal::oracles
