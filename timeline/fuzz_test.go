package timeline

import "testing"

// FuzzPlanner reads calls from bytes, four each, and compares them with the naive array.
func FuzzPlanner(f *testing.F) {
	f.Add([]byte{0, 0, 10, 3, 0, 5, 10, 3, 5, 0, 12, 4, 2, 1, 0, 0, 5, 0, 12, 4})
	f.Add([]byte{0, 10, 10, 9, 4, 0, 0, 4, 5, 0, 200, 9, 3, 1, 0, 2, 4, 0, 0, 9, 6, 0, 3, 1})
	f.Add([]byte("0aaa0bbb0ccc0ddd0eee0fff0ggg2aaa5hhh6iii1jjj2kkk2lll5mmm"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const horizon, most = 240, 600 // calls beyond find nothing new
		c := newPair(t, 9, 0, horizon)
		for ; len(data) >= 4 && c.calls < most; data = data[4:] {
			a, b, n := int64(data[1]), int64(data[2]), int64(data[3]%12)-1
			switch data[0] % 8 {
			case 0:
				c.add(Span{a, b, n})
			case 1:
				c.add(Span{a, b%8 + 1, n % 4})
			case 2:
				c.remove(int(a))
			case 3:
				c.reduce(int(a), n)
			case 4:
				c.resize(n)
			case 5:
				c.ask(a, b, n)
			case 6:
				c.starts(a, b%32, n)
			default:
				c.ask(a, b%16+1, n%3+1)
			}
		}
		c.valid()
	})
}
