package file

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/placectl/placectl/internal/row"
)

// A copy of a database holds the same waiting jobs. If both executed them, each job would run
// twice. So a database knows which file it was made in: the row Itself has the number of its
// inode, its birth time and its path. A file that these do not describe is a copy. A file that was
// given another name is still the same one, unless the former name leads to another file of this
// database: then the other one took its place.
//
// Programs that copy into an existing file, such as cp, leave the inode as it is. Such a file is
// an older state of the database, which its last transaction shows: package store compares that
// with the last one that executed something: see Executed.

// Place is the file that a process has open, as the file system names it.
type Place struct {
	inode uint64
	born  int64 // in nanoseconds, 0 if unknown
	path  string
	lasts bool // the file system keeps the numbers of its inodes
	info  fs.FileInfo
}

// whereabouts finds the place of an open file once.
type whereabouts struct {
	data  *os.File
	once  sync.Once
	found *Place
	err   error
}

func (w *whereabouts) find() (*Place, error) {
	w.once.Do(func() { w.found, w.err = placeOf(w.data) })
	return w.found, w.err
}

func placeOf(data *os.File) (*Place, error) {
	info, err := data.Stat()
	if err != nil {
		return nil, err
	}
	p := &Place{info: info, born: born(data), lasts: !fileSystemOfFile(data).redraws}
	_, p.inode = identify(data, info)
	p.path, err = pathOf(data)
	return p, err
}

// realPath returns a path without links. The file itself need not exist yet.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// Standing says whether a file is the one that its database knows itself to be.
type Standing struct {
	Copy string // why the file executes nothing, "" if it is the database itself
	// Made says that it is another file than the row describes, and so a copy whatever else comes about.
	Made bool
	// Number tells what the database has executed as this file from what copies of it have.
	Number [16]byte
	moved  bool // the file has another path than the row says
}

// Standing compares the file with what the database knows of itself.
func (r *Recorder) Standing() (Standing, error) {
	known, err := r.itself()
	if err != nil || !r.judged {
		return Standing{}, err
	}
	switch {
	case known != nil:
	case r.format < Newest: // the first writer, which migrates it, notes which file it is
		return Standing{}, nil
	case r.bucket(row.Meta).Get(row.KeyReplica) != nil:
		return Standing{Copy: "it is the replica of a log"}, nil
	default:
		return Standing{Copy: "it is a backup, or was salvaged or loaded"}, nil
	}
	here, err := r.where.find()
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Number: known.Number, Made: here.lasts && !here.is(known), moved: here.path != known.Path}
	switch {
	case !here.lasts && s.moved, s.Made:
		s.Copy = "it is a copy of " + known.Path
	case !s.moved:
	default:
		id, err := r.Identity()
		if err != nil {
			return s, err
		}
		var other bool
		if other, s.moved = here.replacedAt(known.Path, id); other {
			s.Copy = "another file of this database is at " + known.Path
		}
	}
	return s, nil
}

// is compares a file with the one that a row describes.
func (p *Place) is(known *row.Itself) bool {
	return p.inode == known.Inode && (p.born == known.Born || p.born == 0 || known.Born == 0)
}

// replacedAt reports whether another file of the database is at the path that it had. gone means
// that the path does not lead to this file any more.
func (p *Place) replacedAt(path string, id *row.Identity) (other, gone bool) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || isNoFolder(err):
		return false, true
	case err == nil && os.SameFile(info, p.info):
		return false, false
	}
	found, err := identityAt(path)
	if errors.Is(err, ErrNotOurs) {
		return false, true
	}
	return err != nil || bytes.Equal(found.ID[:], id.ID[:]), true // one that cannot be read may be this database
}

// identityAt reads the identity of a file without its lock. Its pages may change meanwhile, so that
// it looks again.
func identityAt(path string) (id *row.Identity, err error) {
	for range looks {
		if id, err = peekIdentity(path); err == nil {
			return id, nil
		}
	}
	return nil, err
}

func peekIdentity(path string) (*row.Identity, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	metas := readMetas(f, info.Size())
	if !info.Mode().IsRegular() || len(metas) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotOurs, path)
	}
	var id *row.Identity
	s := &scan{pages: newPages(f, metas[0]), lost: func(Loss) {}, row: func(t row.Table, key, value []byte) error {
		if t != row.Meta || !bytes.Equal(key, row.KeyIdentity) {
			return nil
		}
		payload, err := row.Unseal(t, key, value)
		if err == nil {
			id = new(row.Identity)
			err = row.IdentityRow.Read(id, row.KeyIdentity, payload)
		}
		return err
	}}
	s.only = func(t row.Table) bool { return t == row.Meta }
	if s.tables(metas[0].root, 0); s.err != nil {
		return nil, s.err
	}
	if id == nil {
		return nil, fmt.Errorf("%w: %s has no identity", row.ErrDamaged, path)
	}
	return id, nil
}

// itself returns what the database knows of its file, nil for a file that is a copy from the start.
func (r *Recorder) itself() (*row.Itself, error) {
	payload, err := r.Get(row.Meta, row.KeyItself)
	if payload == nil || err != nil {
		return nil, err
	}
	known := new(row.Itself)
	return known, row.ItselfRow.Read(known, row.KeyItself, payload)
}

// Settle makes this file the database itself, once it has its name.
func (r *Recorder) Settle(name string) error {
	here, err := r.where.find()
	if err != nil {
		return err
	}
	known := &row.Itself{Inode: here.inode, Born: here.born, Path: here.path}
	if name != "" {
		if known.Path, err = realPath(name); err != nil {
			return err
		}
	}
	rand.Read(known.Number[:]) //nolint:errcheck // it never fails
	return r.Put(row.Meta, row.KeyItself, row.ItselfRow.Encode(known))
}

// Unsettle makes the file a copy.
func (r *Recorder) Unsettle() error { return r.Remove(row.Meta, row.KeyItself) }

// keepPath notes the new path of a file that was given another name.
func (r *Recorder) keepPath() error {
	known, err := r.itself()
	if err != nil || known == nil || !r.judged {
		return err
	}
	here, err := r.where.find()
	if err != nil || here.path == known.Path {
		return err
	}
	s, err := r.Standing()
	if err != nil || s.Copy != "" || !s.moved {
		return err
	}
	known.Path = here.path
	return r.Put(row.Meta, row.KeyItself, row.ItselfRow.Encode(known))
}

// Settle makes a file that is being made the database itself, under a name.
func Settle(tmp, name string) error {
	f := &File{path: tmp, opt: Options{Scratch: true}}
	return errors.Join(f.Update(func(r *Recorder) (bool, error) { return true, r.Settle(name) }), f.Close())
}

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
	f, err := openNoFollow(e.path(), os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	var b [32]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
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
	if err != nil || !info.IsDir() || permissions(info)&0o022 != 0 || statusOf(info).uid != os.Geteuid() {
		return
	}
	f, err := openNoFollow(e.path(), os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteAt([]byte(strconv.FormatUint(transaction, 10)+"\n"), 0) //nolint:errcheck // as above
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
