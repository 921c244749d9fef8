package text

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormatSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 9: "9 B", 512: "512 B", 1023: "1023 B", 1024: "1.0 KiB", 1025: "1.0 KiB", 10188: "9.9 KiB",
		10189:   "10 KiB",
		1 << 20: "1.0 MiB", 1<<20 - 1: "1024 KiB", 1<<20 - 100: "1024 KiB", 1000 << 10: "1000 KiB", 31 << 30: "31 GiB",
		8 << 30:    "8.0 GiB",
		-(8 << 30): "-8.0 GiB", -1: "-1 B", math.MaxInt64: "8.0 EiB", math.MinInt64: "-8.0 EiB",
	} {
		if diff := cmp.Diff(want, FormatSize(bytes)); diff != "" {
			t.Errorf("%d bytes (-want +got):\n%s", bytes, diff)
		}
	}
}

func TestComma(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 123456: "123,456", 1234567: "1,234,567",
		math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if diff := cmp.Diff(want, Comma(n)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", n, diff)
		}
	}
}
