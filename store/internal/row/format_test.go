package row

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// TestFormatStages: a program only reads its own stage of an unreleased format, and each
// refusal names what the file has.
func TestFormatStages(t *testing.T) {
	const own, other = Format | Stage<<16, Format | (Stage+1)<<16
	for _, c := range []struct {
		raw   uint32
		known bool
		name  string
	}{
		{Format - 1, true, fmt.Sprintf("format %d", Format-1)},
		{own, true, fmt.Sprintf("format %d", Format)},
		{other, false, fmt.Sprintf("stage %d of the unreleased format %d", Stage+1, Format)},
		{Format, Stage == 0, fmt.Sprintf("format %d", Format)},
		{Format + 1, false, fmt.Sprintf("format %d", Format+1)},
	} {
		format, ok := DecodeFormat(binary.BigEndian.AppendUint32([]byte(magic), c.raw))
		if !ok || (format <= Format) != c.known {
			t.Errorf("%#x reads as %d, %t", c.raw, format, ok)
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
