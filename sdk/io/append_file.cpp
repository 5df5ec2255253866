#include "sdk/io/append_file.h"

#include <sys/stat.h>

#include <span>
#include <utility>

#include "sdk/core/log.h"
#include "sdk/io/file_error.h"
#include "sdk/io/output_path.h"

namespace frugal {

AppendFile::AppendFile(const std::string& path, OpenMode mode, Purpose purpose)
    : path_(path), purpose_(std::move(purpose)), files_(CurrentFileSystem()) {
  std::error_code error;
  file_ = OpenFile(files_, path_, mode, 0666, error);
  if (error) RefuseFile(path_, purpose_.required, error.message(), purpose_.advice);
  struct stat facts = {};
  if (::fstat(file_, &facts) == 0) size_ = facts.st_size;
  Tell(SyncNames(files_, DirectoryOf(path_).string()));
}

AppendFile::~AppendFile() { files_.Close(file_); }

void AppendFile::Append(std::string_view record) {
  const std::error_code error = WriteAll(files_, file_, size_, std::as_bytes(std::span(record)));
  if (!error) {
    size_ += std::ssize(record);
    return;
  }
  Uninterrupted([&] { return files_.Truncate(file_, size_); });  // else the next one writes over it
  Tell(error);
}

void AppendFile::Sync() {
  Tell(Uninterrupted([&] { return files_.Sync(file_); }));
}

void AppendFile::Tell(const std::error_code& error) {
  if (!error || told_) return;
  told_ = true;
  LogWarning(Describe({.where = path_,
                       .required = purpose_.required,
                       .given = error.message(),
                       .advice = "the training goes on, and what is written here may have gaps"}));
}

}  // namespace frugal
