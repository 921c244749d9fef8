#!/usr/bin/env bash
# usage: testdata/faults/prepare.sh FOLDER
# Makes a copy of bbolt in FOLDER in which each operation on a file (write, sync, truncate,
# lock, map) asks a hook first, and lets our own operations ask the same one. It prints the
# flags for go test to build with them:
#   go test $(testdata/faults/prepare.sh /tmp/faults) -run 'Fault|Power|Stall' ./cmd/placectl/e2e
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)
bbolt=$(cd "$root" && go list -m -f '{{.Dir}}' go.etcd.io/bbolt)

# swap FILE OLD NEW puts NEW in the place of OLD, which must be there once.
swap() {
	[ "$(grep -cF -- "$2" "$to/bbolt/$1")" = 1 ] || { echo "$1 of bbolt has not exactly one: $2" >&2; exit 1; }
	OLD=$2 NEW=$3 perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$to/bbolt/$1"
}

rm -rf "$to/bbolt"
cp -r "$bbolt" "$to/bbolt"
chmod -R u+w "$to/bbolt"
swap bolt_linux.go 'return syscall.Fdatasync(int(db.file.Fd()))' 'return hooked("sync", db.file, 0, nil, func() error { return syscall.Fdatasync(int(db.file.Fd())) })'
swap bolt_unix.go 'err := syscall.Flock(int(fd), flag)' 'err := hooked("lock", db.file, 0, nil, func() error { return syscall.Flock(int(fd), flag) })'
swap bolt_unix.go '	b, err := unix.Mmap(int(db.file.Fd()), 0, sz, syscall.PROT_READ, syscall.MAP_SHARED|db.MmapFlags)' '	var b []byte
	err := hooked("map", db.file, 0, nil, func() (err error) {
		b, err = unix.Mmap(int(db.file.Fd()), 0, sz, syscall.PROT_READ, syscall.MAP_SHARED|db.MmapFlags)
		return err
	})'
swap db.go 'db.ops.writeAt = db.file.WriteAt' 'db.ops.writeAt = hookedWriteAt(db.file)'
swap db.go 'db.file.Truncate(int64(sz))' 'hooked("truncate", db.file, int64(sz), nil, func() error { return db.file.Truncate(int64(sz)) })'
swap db.go 'db.file.Sync()' 'hooked("sync", db.file, 0, nil, db.file.Sync)'

cp "$here/bbolt_hooks.go.txt" "$to/bbolt/hooks.go"

cp "$root/go.mod" "$root/go.sum" "$to"
(cd "$to" && go mod edit -replace "go.etcd.io/bbolt=$to/bbolt")
echo "{\"Replace\": {\"$root/internal/file/hooks.go\": \"$here/file_hooks.go.txt\"}}" >"$to/overlay.json"
echo "-tags=faults -modfile=$to/go.mod -overlay=$to/overlay.json"
