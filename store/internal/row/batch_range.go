package row

import (
	"github.com/placectl/placectl/locality"
)

const batchRangeVersion = 1

func rangeFields(f *Fields, c *locality.Cursor) {
	f.Version(batchRangeVersion)
	KeyPart(f, "first", 4, 8, 12, &c.First)
	for _, x := range [...]struct {
		name string
		slot *int
	}{{"last", &c.Last}, {"unfinished", &c.Unfinished}, {"top", &c.Top}, {"low", &c.Low}, {"high", &c.High}, {"generated", &c.Generated}} {
		Int(f, x.name, x.slot)
	}
	Int(f, "open", &c.Open)
	for i := range Each(f, "ends", c.Ends[:]) {
		end := &c.Ends[i]
		Uint(f, "hosts", &end.Hosts)
		Int(f, "rate", &end.Rate)
		Int(f, "hand", &end.Hand)
		Int(f, "back", &end.Back)
		f.Next()
	}
	Uints(f, "gone", &c.Gone)
}

// EncodeRange returns the row of a range of a batch.
func EncodeRange(c *locality.Cursor) []byte { return encode(rangeFields, c) }

// DecodeRange reads it.
func DecodeRange(key, payload []byte) (*locality.Cursor, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(locality.Cursor)
	rangeFields(&f, v)
	return v, f.done(BatchRanges)
}
