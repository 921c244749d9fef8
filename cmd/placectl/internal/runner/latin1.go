package runner

// Arguments, variables and paths are bytes, and JSON has texts in UTF-8. On the way through
// JSON each byte is a letter of its own, that of Latin-1.

// ToLatin1 is a text for JSON whose letters are the bytes of s.
func ToLatin1(s string) string {
	letters := make([]rune, len(s))
	for i := range len(s) {
		letters[i] = rune(s[i])
	}
	return string(letters)
}

// FromLatin1 is the text whose bytes the letters of s are.
func FromLatin1(s string) string {
	var b []byte
	for _, c := range s {
		b = append(b, byte(c))
	}
	return string(b)
}

// Each is a list with each text changed.
func Each(list []string, change func(string) string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = change(s)
	}
	return out
}

func (p plan) texts(change func(string) string) plan {
	p.Words, p.Env, p.Dir = Each(p.Words, change), Each(p.Env, change), change(p.Dir)
	for _, o := range []*output{&p.Out, &p.Err} {
		o.Path, o.Header, o.Fallback = change(o.Path), change(o.Header), change(o.Fallback)
	}
	return p
}

func (e Elsewhere) texts(change func(string) string) Elsewhere {
	e.Words, e.Env, e.Dir = Each(e.Words, change), Each(e.Env, change), change(e.Dir)
	return e
}
