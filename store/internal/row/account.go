package row

// Account is an account, which pays for jobs or stands for a project. Accounts form trees.
type Account struct {
	Name    string
	Parent  string // the account that it is part of, "" for none
	Shares  int64  // of its parent's share, relative to its siblings
	Members []AccountMember
	Allow   []string // permitted users and groups, as user:ann or group:lab; empty: all
}

// AccountMember is a user of an account.
type AccountMember struct {
	User   string
	Shares int64 // of the account's share, relative to the other members
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
