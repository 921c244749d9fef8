package text

import "github.com/dustin/go-humanize"

// FormatSize writes a number of bytes for people, in powers of 1,024 and with at least two
// digits: 512 B, 8.0 GiB, 31 GiB.
func FormatSize(bytes int64) string {
	if bytes < 0 {
		return "-" + humanize.IBytes(-uint64(bytes))
	}
	return humanize.IBytes(uint64(bytes))
}

// Comma writes a count for people, with a comma between thousands: 1,234.
func Comma[T int | int64](n T) string { return humanize.Comma(int64(n)) }
