package spell

import "github.com/dustin/go-humanize"

// FormatSize writes a number of bytes for people: 512 B, 8.0 GiB.
func FormatSize(bytes int64) string {
	s := humanize.IBytes(abs(bytes))
	if bytes < 0 {
		return "-" + s
	}
	return s
}
