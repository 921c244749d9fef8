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

// Comma writes a count for people, with a comma between thousands: 1,234.
func Comma[T int | int64](n T) string { return humanize.Comma(int64(n)) }
