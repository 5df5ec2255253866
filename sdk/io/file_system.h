#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

namespace frugal {

// Says what opening a file for writing does with one that is there, and with one that is not.
enum class OpenMode : std::uint8_t {
  kNew,       // makes one; EEXIST where there is one
  kEmpty,     // makes one, or empties the one that is there
  kContinue,  // makes one, or takes the one that is there as it is
  kExisting,  // takes the one that is there as it is, but not through a link; never makes one
  // As kNew, and what is written goes past the page cache where the file system has that:
  // addresses, offsets and counts of bytes are multiples of kDirectBlock.
  kNewDirect,
};
inline constexpr std::int64_t kDirectBlock = 4096;

// Every call by which the library writes: nothing outside of file_system.cpp changes a file, as
// tests/style sees to, so that a test can put faults in from outside and take down what is written.
// Reading goes past it. Errors are those of the system (errno, in std::generic_category); calls
// that a signal interrupted may say EINTR, see WriteAll and Uninterrupted. Threads: any may call.
class FileSystem {
 public:
  FileSystem() = default;
  virtual ~FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  // Returns a descriptor of the system, by which the file may be read, locked and asked for facts
  // too; -1 where there is an error. A new file has these permissions less the process's mask.
  virtual int Open(const std::string& path, OpenMode mode, mode_t permissions,
                   std::error_code& error) = 0;
  // Returns how many bytes were written, from the first on: fewer than all at times.
  virtual std::size_t WriteAt(int file, std::int64_t offset, std::span<const std::byte> bytes,
                              std::error_code& error) = 0;
  virtual std::error_code Truncate(int file, std::int64_t size) = 0;
  // Takes the disk's space for so many bytes, so that writing them does not fail for want of it.
  // The file only gets its size where the file system cannot do that.
  virtual std::error_code TakeSpace(int file, std::int64_t size) = 0;
  // Returns when the file's bytes are on the disk. Its name may not be: see SyncDirectory.
  virtual std::error_code Sync(int file) = 0;
  // Gives the descriptor back, whatever is returned.
  virtual std::error_code Close(int file) = 0;
  // Puts a file or directory in place of what is at `to`, in one step.
  virtual std::error_code Rename(const std::string& from, const std::string& to) = 0;
  // Removes a file, a link or an empty directory.
  virtual std::error_code Remove(const std::string& path) = 0;
  virtual std::error_code MakeDirectory(const std::string& path) = 0;
  // Returns when the names in the directory are on the disk: those made, renamed and removed in it.
  virtual std::error_code SyncDirectory(const std::string& path) = 0;
};

// Returns the file system that is the machine's.
FileSystem& SystemFiles();

// Returns the one that all writers of this process use: the machine's outside of a FileSystemScope.
FileSystem& CurrentFileSystem();

// Replaces the current file system while it lives, for all threads; scopes nest. Files that are
// open keep to the one that opened them, so `files` must outlive them.
class FileSystemScope {
 public:
  explicit FileSystemScope(FileSystem& files);
  ~FileSystemScope();
  FileSystemScope(const FileSystemScope&) = delete;
  FileSystemScope& operator=(const FileSystemScope&) = delete;

 private:
  FileSystem* before_;
};

// Writes all the bytes, however often the system takes some of them or is interrupted. A system
// that takes none and gives no reason has no space.
std::error_code WriteAll(FileSystem& files, int file, std::int64_t offset,
                         std::span<const std::byte> bytes);

// Returns what `call` does, which is made again while a signal interrupts it.
template <class Call>
std::error_code Uninterrupted(const Call& call) {
  std::error_code error;
  do {
    error = call();
  } while (error == std::errc::interrupted);
  return error;
}
int OpenFile(FileSystem& files, const std::string& path, OpenMode mode, mode_t permissions,
             std::error_code& error);

// Makes a name in a directory durable. Returns no error where the file system lets nobody sync a
// directory, or this user not this one: there the name is as durable as can be.
std::error_code SyncNames(FileSystem& files, const std::string& directory);

// Makes a directory and those above it that are missing, each durable in the one above. Returns no
// error where it is there already.
std::error_code MakeDirectories(FileSystem& files, const std::string& path);

}  // namespace frugal
