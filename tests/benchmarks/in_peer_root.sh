#!/bin/sh
# Runs a command in another root directory, which sees the benchmarks as /mnt:
#   unshare --mount sh in_peer_root.sh ROOT BENCHMARKS COMMAND [ARGUMENTS]
# Mounts are those of the unshared name space, and are gone when the command ends.
set -eu
root=$1
benchmarks=$2
shift 2
# PyTorch asks for its processors and its memory there.
for directory in /proc /sys /dev; do
  mount --rbind "$directory" "$root$directory"
done
mount --bind "$benchmarks" "$root/mnt"
mount -t tmpfs tmpfs "$root/tmp"  # which PyTorch leaves a directory in
exec chroot "$root" /usr/bin/env -C / -u PYTHONHOME -u PYTHONPATH -u LD_LIBRARY_PATH -u LD_PRELOAD \
  -u TMPDIR HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin "$@"
