// Package signing signs what a job executes. In a file that others can write to, a row proves nothing.
// So a pass executes only what its own user has signed, with a key that no other user can read,
// ~/.config/placectl/key. If a user has several home directories, the key must be copied.
package signing

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Key signs and verifies for one user.
type Key struct{ secret []byte }

// Path returns the path of the key file below a home directory.
func Path(home string) string { return filepath.Join(home, ".config", "placectl", "key") }

// Exists reports whether there is a file at the path of a key.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// size is the size of a key in bytes. The file has it in hexadecimal.
const size = 32

// Read reads a key. It fails with fs.ErrNotExist if there is none. It also fails if the file belongs to
// another user, or if others may read it.
func Read(path string) (*Key, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case int(is.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%s belongs to user %d: remove it, and submit again", path, is.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others: remove it, and submit again; placectl unhold signs "+
			"waiting jobs anew", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, 4*size))
	if err != nil {
		return nil, err
	}
	secret := make([]byte, hex.DecodedLen(len(text)))
	if n, err := hex.Decode(secret, text[:min(len(text), 2*size)]); err != nil || n != size {
		return nil, fmt.Errorf("%s is not a key of %d hexadecimal digits: remove it, and submit again", path, 2*size)
	}
	return &Key{secret[:size]}, nil
}

// ReadOrMake reads a key, or makes one. If several processes do so at once, all get the same key.
func ReadOrMake(path string) (*Key, error) {
	k, err := Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, ".key-*") // 0600 whatever the umask is
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	secret := make([]byte, size)
	rand.Read(secret) //nolint:errcheck // it never fails
	if _, err = fmt.Fprintln(f, hex.EncodeToString(secret)); err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Read(path)
}

// Sign signs a text.
func (k *Key) Sign(text []byte) []byte {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write(text)
	return mac.Sum(nil)
}

// Verify reports whether a signature of a text is this key's.
func (k *Key) Verify(text, signature []byte) bool { return hmac.Equal(k.Sign(text), signature) }
