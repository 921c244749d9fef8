package row

import "github.com/placectl/placectl/timeline"

// UsageBlock is the cpu-seconds of 64 nodes.
type UsageBlock [timeline.BlockNodes]int64

const usageVersion = 1

// EncodeUsage is the row of a block.
func EncodeUsage(b *UsageBlock) []byte {
	e := encoder{}
	e.byte(usageVersion)
	for i, n := range b {
		if n != 0 {
			e.byte(byte(i))
			e.int(n)
		}
	}
	return e.b
}

// DecodeUsage reads it.
func DecodeUsage(key, payload []byte) (b UsageBlock, err error) {
	d := decoder{b: payload}
	d.byte()
	for len(d.b) > 0 {
		at := int(d.byte()) % timeline.BlockNodes
		b[at] = d.int()
	}
	return b, d.done(Usage, key)
}
