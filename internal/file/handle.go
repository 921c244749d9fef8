package file

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"sync"
	"time"
)

// Between its transactions, a handle keeps the file open and mapped, and lets others in: it gives the
// locks back, not the file. The memory of bbolt is right as long as no one else has committed:
//
//   - A reader has none but the mapping, which is shared with the file, so it sees the commits of others.
//     It is opened anew if the file has outgrown the mapping.
//   - A writer also has the list of free pages. It is opened anew after a commit of others.
//
// The two meta pages, read under the lock, tell of any commit. They are compared with the mapped ones, too:
// a mapping that is not coherent with its file is of no use. If there is another file below the name, or
// its owner or mode has changed, or there is another lock file, the file is opened anew. So it is in any
// doubt: opening is slow, and always right.
//
// Files are kept open only where mappings are known to be coherent: not on network file systems, FUSE, or
// systems other than Linux. On overlayfs, the first writer copies a lower file up, and then a mapping is of
// the old one. So there a reader, too, is opened anew after any change.

// keptReaders is the most idle readers of a handle. An idle file is closed after keptTime, because it
// would hold the room of a file that has been replaced.
const (
	keptReaders = 4
	keptTime    = 5 * time.Second
)

// kept is what a handle keeps open: files that no transaction uses, without locks.
type kept struct {
	mu      sync.Mutex
	readers []*opened // the one used last is the last
	writer  *opened
	sound   seen // a state that preflight accepted, or that this handle committed
	never   bool // the file system is not one for it
	sweep   *time.Timer
}

// seen is a state of a file, and which file it is.
type seen struct {
	which   place
	size    int64
	written int64 // in nanoseconds: a file that is copied over may have equal meta pages
	metas   [2][pageHeaderSize + metaSize]byte
}

// place tells a file from others, and from itself with other rights.
type place struct {
	device, inode   uint64
	mode            fs.FileMode
	uid, gid, links int
}

// take takes an idle file out of the handle, or returns nil.
func (f *File) take(want lockMode, path string) (o *opened) {
	k := &f.kept
	k.mu.Lock()
	if want != sharing {
		o, k.writer = k.writer, nil
	} else if last := len(k.readers) - 1; last >= 0 {
		o, k.readers = k.readers[last], k.readers[:last]
	}
	k.mu.Unlock()
	if o != nil && o.data.Name() != path { // the working directory has changed
		f.closed(o.close())
		return nil
	}
	return o
}

// give ends a transaction on a file: it releases the locks, and keeps the file open if it can.
func (f *File) give(o *opened) error {
	if !f.keeps(o) {
		return o.close()
	}
	err := unlockWhole(o.data)
	if err == nil {
		err = o.lock.pause()
	}
	if err != nil {
		return errors.Join(err, o.close())
	}
	o.since = time.Now()
	k := &f.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case f.shut.Load():
		return o.close()
	case o.write && k.writer == nil:
		k.writer = o
	case !o.write && len(k.readers) < keptReaders:
		k.readers = append(k.readers, o)
	default:
		return o.close()
	}
	if k.sweep == nil {
		k.sweep = time.AfterFunc(keptTime, func() { f.closeIdle(keptTime) })
	}
	return nil
}

// keeps reports whether a file may be kept open. It still has its lock.
func (f *File) keeps(o *opened) bool {
	if f.opt.Scratch || o.lock.f == nil || o.lock.readOnly || o.spent || o.left {
		return false
	}
	k := &f.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.never {
		return false
	}
	if o.kind.name == "" {
		if o.kind = fileSystemOfFile(o.data); !o.kind.isLocal() {
			k.never = true
			return false
		}
	}
	if o.last == (seen{}) { // it was opened, or has committed
		info, err := o.data.Stat()
		if err != nil {
			return false
		}
		if o.last, err = o.state(info); err != nil {
			return false
		}
		k.sound = o.last
	}
	if is := o.mapping(); len(is) == 0 || &is[0] != o.apart { // bbolt maps a file that grows anew
		if len(is) == 0 || keepFromChildren(is) != nil {
			return false
		}
		o.apart = &is[0]
	}
	return true
}

// closeIdle closes files that have been idle for a time.
func (f *File) closeIdle(than time.Duration) {
	k := &f.kept
	var idle, stay []*opened
	next := keptTime
	k.mu.Lock()
	for _, o := range append(k.readers, k.writer) {
		switch {
		case o == nil:
		case time.Since(o.since) >= than:
			idle = append(idle, o)
			if o == k.writer {
				k.writer = nil
			}
		default:
			next = min(next, keptTime-time.Since(o.since))
			if o != k.writer {
				stay = append(stay, o)
			}
		}
	}
	if k.readers = stay; k.sweep != nil {
		if k.sweep.Stop(); len(stay) > 0 || k.writer != nil {
			k.sweep.Reset(next)
		} else {
			k.sweep = nil
		}
	}
	k.mu.Unlock()
	for _, o := range idle {
		f.closed(o.close())
	}
}

// right reports whether a file that was kept open is still the one of its name, and bbolt's memory is
// that of its state. The caller has the lock.
func (f *File) right(o *opened) (right bool) {
	how := forReading
	if o.write {
		how = forWriting
	}
	if flockWithin(o.data, how, openTimeout) != nil {
		return false
	}
	info, err := os.Lstat(o.data.Name())
	if err != nil {
		return false
	}
	now, err := o.state(info)
	if err != nil || now.which != o.last.which {
		return false
	}
	if now != o.last && (o.write || o.kind.layers || !f.preflighted(o, &now)) {
		return false
	}
	o.last, o.where = now, &whereabouts{data: o.data}
	return o.maps(&now)
}

// preflighted checks a state that others left, as far as this handle has not done so.
func (f *File) preflighted(o *opened, now *seen) bool {
	f.kept.mu.Lock()
	known := *now == f.kept.sound
	f.kept.mu.Unlock()
	if !known {
		if _, err := preflightFile(o.data, o.write); err != nil {
			return false
		}
		f.kept.mu.Lock()
		f.kept.sound = *now
		f.kept.mu.Unlock()
	}
	return true
}

// maps reports whether the mapping is of a state, and large enough for it.
func (o *opened) maps(now *seen) bool {
	is, page := o.mapping(), int64(o.bolt.Info().PageSize)
	valid := 0
	for i := range now.metas {
		at := int64(i) * page
		if int64(len(is)) < at+pageHeaderSize+metaSize || !bytes.Equal(now.metas[i][:], is[at:][:len(now.metas[i])]) {
			return false
		}
		m, ok := parseMeta(now.metas[i][:])
		if ok && (m.pageSize != page || m.pages > uint64(int64(len(is))/page)) {
			return false
		}
		if ok {
			valid++
		}
	}
	return valid > 0
}

// mapping returns the memory at which bbolt has mapped the file, nil if that cannot be found.
func (o *opened) mapping() []byte {
	is := reflect.ValueOf(o.bolt).Elem().FieldByName("dataref")
	if !is.IsValid() || is.Type() != reflect.TypeFor[[]byte]() {
		return nil
	}
	return is.Bytes()
}

// state reads the state of the file; info is what the system tells of it.
func (o *opened) state(info fs.FileInfo) (s seen, err error) {
	is := statusOf(info)
	s = seen{size: info.Size(), written: info.ModTime().UnixNano(),
		which: place{mode: info.Mode(), uid: is.uid, gid: is.gid, links: is.links}}
	s.which.device, s.which.inode = identify(o.data, info)
	page := o.bolt.Info().PageSize
	if o.head == nil {
		o.head = make([]byte, page+len(s.metas[1]))
	}
	if err := readAt(o.data, o.head, 0); err != nil {
		return s, err
	}
	copy(s.metas[0][:], o.head)
	copy(s.metas[1][:], o.head[page:])
	return s, nil
}
