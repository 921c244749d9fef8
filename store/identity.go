package store

import "encoding/hex"

// Identity tells a database from others. A copy of its file has the same; one that was
// made from a dump, or restored from a backup, has another epoch at least.
type Identity struct {
	ID    string // hexadecimal
	Epoch uint32
}

// Identity is what tells the database from others. Files of older formats have none until
// they are first written to.
func (tx *Tx) Identity() (Identity, error) {
	id, err := tx.file.Identity()
	if err != nil || id.Epoch == 0 {
		return Identity{}, err
	}
	return Identity{hex.EncodeToString(id.ID[:]), id.Epoch}, nil
}
