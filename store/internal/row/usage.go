package row

import "github.com/placectl/placectl/timeline"

// UsageBlock holds the used cpu-seconds of 64 nodes.
type UsageBlock [timeline.BlockNodes]int64

const usageVersion = 1

// usageFields lists the nodes with use.
func usageFields(f *Fields, b *UsageBlock) {
	f.Version(usageVersion)
	switch f.dir {
	case writing:
		for i, n := range b {
			if n != 0 {
				f.b = append(f.b, byte(i))
				f.ivar(n)
			}
		}
	case reading:
		for len(f.b) > 0 {
			at := f.takeByte() % timeline.BlockNodes
			b[at] = f.ivar(0)
		}
	default:
		Counts(f, "", b[:])
	}
}

// EncodeUsage returns the row of a block.
func EncodeUsage(b *UsageBlock) []byte { return encode(usageFields, b) }

// DecodeUsage reads it.
func DecodeUsage(key, payload []byte) (b UsageBlock, err error) {
	f := Fields{dir: reading, b: payload, key: key}
	usageFields(&f, &b)
	return b, f.done(Usage)
}
