package row

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// TestFormatStages: a program only reads its own stage of an unreleased format, and each
// refusal names what the file has.
func TestFormatStages(t *testing.T) {
	const own, other, first = Format | Stage<<16, Format | (Stage+1)<<16, Format | 1<<16
	for _, c := range []struct {
		raw   uint32
		known bool
		name  string
	}{
		{Format - 1, true, fmt.Sprintf("format %d", Format-1)},
		{own, true, fmt.Sprintf("format %d", Format)},
		{other, false, fmt.Sprintf("stage %d of the unreleased format %d", Stage+1, Format)},
		{first, false, fmt.Sprintf("stage 1 of the unreleased format %d", Format)},
		{Format, Stage == 0, fmt.Sprintf("format %d", Format)},
		{Format + 1, false, fmt.Sprintf("format %d", Format+1)},
	} {
		if c.raw == first && Stage == 1 {
			continue // that is the own one
		}
		format, ok := DecodeFormat(binary.BigEndian.AppendUint32([]byte(magic), c.raw))
		if !ok || (format <= Format) != c.known {
			t.Errorf("%#x reads as %d, %t", c.raw, format, ok)
		}
		if older := c.raw < Format || c.raw == first; older == WasReleased(format) {
			t.Errorf("%#x was released, or is newer: %t", c.raw, !older)
		}
		if c.raw == Format && Stage != 0 {
			c.name += " as released"
		}
		if got := FormatName(format); got != c.name {
			t.Errorf("%#x is %q, want %q", c.raw, got, c.name)
		}
	}
	if format, ok := DecodeFormat(EncodeFormat(Format)); format != Format || !ok {
		t.Errorf("the own format reads as %d, %t", format, ok)
	}
}
