//go:build unix && !linux

package keeper

import (
	"errors"
	"fmt"
	"os"

	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// These systems execute no jobs, so only what other verbs ask of a keeper works.

const (
	inPipe    = 0x4004667f           // asks how many bytes wait in a pipe: FIONREAD, which package unix lacks
	sinceBoot = unix.CLOCK_MONOTONIC // the nearest to one that counts suspends
)

// bootID identifies the present boot of this host.
func bootID() (string, error) {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "", fmt.Errorf("kern.boottime: %w", err)
	}
	return fmt.Sprint("boot-", at.Sec), nil
}

// pidSpace is the only one.
func pidSpace() (uint64, error) { return 0, nil }

// statOf knows only whether a process lives.
func statOf(pid int) (s stat, err error) {
	if err = unix.Kill(pid, 0); errors.Is(err, unix.EPERM) {
		err = nil
	}
	return s, err
}

func ownUmask() {}

func (*plan) limits() ([]gate.Limit, error) { return nil, Executes() }

func awaitOther(pid int, _ uint64) ending { return ending{pid: pid} }

type ears struct{}

func newEars() (*ears, error)          { return nil, Executes() }
func (*ears) close()                   {}
func (*ears) add(_ int, _ *attendance) {}

// Watch fails with an ErrSystem.
func Watch(*os.File) (status int, err error) { return 0, Executes() }
