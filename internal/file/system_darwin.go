package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// xnu/bsd/sys/fcntl.h has these; golang.org/x/sys does not.
const (
	ofdSetLk  = 90
	ofdSetLkW = 91
	ofdGetLk  = 92
)

func renameAs(from, to string, how renameHow) error {
	if how == replace {
		return os.Rename(from, to)
	}
	flags := [...]uint32{noReplace: unix.RENAME_EXCL, exchange: unix.RENAME_SWAP}
	return unix.RenamexNp(from, to, flags[how])
}
