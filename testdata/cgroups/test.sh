#!/usr/bin/env bash
# usage: testdata/cgroups/test.sh [FOLDER]
# Runs every test that wants control groups of version 2 in a small virtual machine, as root
# and as a user to whom a group is delegated: few machines for builds have them. Debian's
# kernel, busybox and qemu are fetched into FOLDER (the cache of this user, if none is named)
# and unpacked there; nothing is installed, and no right is needed. It takes a minute or two.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/placectl-cgroups}
packages=$(testdata/cgroups/fetch.sh "$folder") || { echo "skipped: $packages"; exit 0; }
unpacked=$folder/unpacked
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the machine begins with: busybox, the tests, and what says in which order.
root=$work/root
mkdir -p "$root"/{bin,src/cmd/placectl/e2e,src/testdata/script,src/docs}
cp "$unpacked/bin/busybox" "$root/bin/"
cp testdata/cgroups/init "$root/init"
cp testdata/script/enforce.txtar "$root/src/testdata/script/"
cp docs/json.txt "$root/src/docs/"
CGO_ENABLED=0 GOARCH=amd64 go test -c -ldflags '-s -w' -o "$root/src/keeper.test" ./internal/keeper
CGO_ENABLED=0 GOARCH=amd64 go test -c -ldflags '-s -w' -o "$root/src/cmd/placectl/e2e/placectl.test" ./cmd/placectl/e2e
(cd "$root" && find . | "$unpacked/bin/busybox" cpio -o -H newc) >"$work/root.cpio" 2>/dev/null

qemu=$(command -v qemu-system-x86_64 || echo "$unpacked/usr/bin/qemu-system-x86_64")
lib=$unpacked/usr/lib/x86_64-linux-gnu:$unpacked/lib/x86_64-linux-gnu
share=$unpacked/usr/share
LD_LIBRARY_PATH=$lib timeout 900 "$qemu" -L "$share/seabios" -L "$share/qemu" -accel tcg -m 2048 -smp 2 \
	-kernel "$unpacked"/boot/vmlinuz-* -initrd "$work/root.cpio" -append "console=ttyS0 loglevel=1 panic=-1" \
	-nographic -no-reboot -nic none -monitor none </dev/null | tr -d '\r' | tee "$work/log" | sed -n '/=== machine/,$p'
grep -q '^=== passed$' "$work/log" || { echo "failed"; exit 1; }
