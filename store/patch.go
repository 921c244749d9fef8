package store

// A reader may stand at a later instant than the file: reservations have begun
// and ended, planned jobs have started. What a writer would fold into the rows a
// reader keeps as a patch over them, so that both see the same.

// patch is what a reader sees differently from the file, by table and key; nil
// for a row that it no longer sees.
type patch [tableCount]map[string][]byte

func (p *patch) put(t table, key, row []byte) {
	if p[t] == nil {
		p[t] = make(map[string][]byte)
	}
	p[t][string(key)] = row
}
