package file

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The state directory of a user has, for each database whose jobs the user has executed,
// the transaction that last claimed an attempt. It is written after the commit, and not synced. A
// database whose last transaction is an earlier one is an older state: something was copied over
// it.

// Executed is the record of one database in a state directory.
type Executed struct {
	Dir    string
	Number [16]byte // of the file: see Standing
}

func (e Executed) path() string {
	return filepath.Join(e.Dir, ".executed."+hex.EncodeToString(e.Number[:]))
}

// Last returns the last transaction that claimed an attempt, or 0 if none is known.
func (e Executed) Last() uint64 {
	fd, err := unix.Open(e.path(), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var b [32]byte
	n, err := unix.Pread(fd, b[:], 0)
	if err != nil {
		return 0
	}
	last, _ := strconv.ParseUint(strings.TrimSpace(string(b[:n])), 10, 64)
	return last
}

// Note records that a transaction claimed an attempt. If that cannot be written, a copy over the
// database goes unnoticed, as it does on another host.
func (e Executed) Note(transaction uint64) {
	if e.Last() >= transaction {
		return
	}
	if err := os.Mkdir(e.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return
	}
	info, err := os.Lstat(e.Dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return
	}
	fd, err := unix.Open(e.path(), unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	unix.Pwrite(fd, []byte(strconv.FormatUint(transaction, 10)+"\n"), 0) //nolint:errcheck // as above
}

// Precedes reports whether the file's last transaction lies before the last one that executed
// something.
func (r *Recorder) Precedes(e Executed) (bool, error) {
	last := e.Last() // first: the file only grows
	if last == 0 || r.data == nil {
		return false, nil
	}
	newest, err := newestMeta(r.data)
	return err == nil && newest.transaction < last, err
}
