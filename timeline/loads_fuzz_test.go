package timeline

import "testing"

// FuzzLoads reads calls from bytes, six each, and compares with the model.
func FuzzLoads(f *testing.F) {
	f.Add([]byte{0, 0, 4, 4, 0, 0, 1, 0, 0, 10, 3, 2, 1, 0, 5, 10, 3, 2, 5, 1, 0, 8, 2, 1})
	f.Add([]byte{0, 1, 5, 3, 0, 0, 2, 1, 4, 9, 5, 0x8f, 2, 1, 4, 2, 1, 0x80, 4, 20, 0, 0, 0, 0, 3, 1, 1, 0, 0, 0, 5, 2, 3, 3, 3, 3})
	f.Add([]byte("0aaaaa0bbbbb1ccccc1ddddd2eeeee2fffff4ggggg5hhhhh6iiiii7jjjjj3kkkkk"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newLoadsPair(t)
		for _, node := range loadsNodes {
			p.setNode(node, []int64{3, 4})
		}
		for calls := 0; len(data) >= 6 && calls < 200; data, calls = data[6:], calls+1 {
			a, b, c, d, e := data[1], int64(data[2]), int64(data[3]), int64(data[4]), int64(data[5])
			node := loadsNodes[int(a)%len(loadsNodes)]
			other := loadsNodes[int(a/8)%len(loadsNodes)]
			amounts := []int64{c%6 - 1, d % 5}
			switch data[0] % 8 {
			case 0:
				p.setNode(node, []int64{b % 6, c % 6})
			case 1, 2, 6:
				busy := Busy{Start: b % 40, End: b%40 + c%12, Owner: uint64(a % 4), Held: e >= 0x80}
				p.add(busy, []Take{{node, []int64{d % 4, e % 5}}, {other, []int64{e % 4, d % 5}}}, data[0]%8 != 2)
			case 3:
				p.remove(uint64(b%4), []uint32{node, other})
			case 4:
				p.setNow(b % 46)
			default:
				p.ask([]uint32{node, other, loadsNodes[0], 65}, int(b%5), amounts, e%14, d%50)
			}
			p.valid()
		}
	})
}
