package row

// Account is an account: who pays for jobs, or owns a project. Accounts make trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of what its parent has, against those of its siblings
	Members []AccountMember
	Allow   []string // who may ask for it, as user:ann or group:lab; empty: anybody
}

// AccountMember is a user of an account.
type AccountMember struct {
	User   string
	Shares int64 // of what the account has, against those of the other members
}

const accountVersion = 1

// EncodeAccount is the row of an account.
func EncodeAccount(a *Account) []byte {
	e := encoder{}
	e.byte(accountVersion)
	e.string(a.Parent)
	e.int(a.Shares)
	e.uint(uint64(len(a.Members)))
	for _, m := range a.Members {
		e.string(m.User)
		e.int(m.Shares)
	}
	e.strings(a.Allow)
	return e.b
}

// DecodeAccount reads it.
func DecodeAccount(key, payload []byte) (*Account, error) {
	d := decoder{b: payload}
	d.byte()
	a := &Account{Name: string(key), Parent: d.string(), Shares: d.int()}
	for range d.count() {
		a.Members = append(a.Members, AccountMember{User: d.string(), Shares: d.int()})
	}
	a.Allow = d.strings()
	return a, d.done(Accounts, key)
}
