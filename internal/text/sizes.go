package text

import "strconv"

// FormatSize writes a number of bytes for people, in powers of 1,024 and with two digits
// or more: 512 B, 8.0 GiB, 31 GiB.
func FormatSize(bytes int64) string {
	const units = "KMGTPE"
	size, power := float64(bytes), -1
	for ; size >= 1023.5 || size <= -1023.5; power++ {
		size /= 1024
	}
	if power < 0 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	places := 0
	if size < 9.95 && size > -9.95 {
		places = 1
	}
	return strconv.FormatFloat(size, 'f', places, 64) + " " + units[power:power+1] + "iB"
}

// Comma writes a count for people, with a comma between thousands: 1,234.
func Comma[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	digits := 0 // where they begin
	if n < 0 {
		digits = 1
	}
	for i := len(s) - 3; i > digits; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
