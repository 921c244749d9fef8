package row

// Account is an account: who pays for jobs, or owns a project. Accounts make trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of what its parent has, against those of its siblings
	Members []AccountMember
	Allow   []string // users and groups that may ask for it, as user:ann or group:lab; empty: anybody
}

// AccountMember is a user of an account.
type AccountMember struct {
	User   string
	Shares int64 // of what the account has, against those of the other members
}

const accountVersion = 1

func accountFields(f *Fields, a *Account) {
	f.Version(accountVersion)
	f.KeyText("name", &a.Name)
	f.Text("parent", &a.Parent)
	Int(f, "shares", &a.Shares)
	for i := range Items(f, "members", &a.Members) {
		m := &a.Members[i]
		f.Text("user", &m.User)
		Int(f, "shares", &m.Shares)
		f.Next()
	}
	f.Texts("allow", &a.Allow)
}

// EncodeAccount returns the row of an account.
func EncodeAccount(a *Account) []byte { return encode(accountFields, a) }

// DecodeAccount reads it.
func DecodeAccount(key, payload []byte) (*Account, error) {
	return decode(Accounts, accountFields, key, payload)
}
