package syntax

// gone says what to write instead of SQLite's words and functions that are refused.
var gone = map[string]string{
	"->":           noReading,
	"->>":          noReading,
	"json_each":    noReading,
	"json_extract": noReading,
	"json_tree":    noReading,
}

const noReading = "queries write JSON and do not read it; use the columns of the tables"

// Instead returns what to write instead of a word or function of SQLite; "" if there is nothing to say.
func Instead(word string) string { return gone[word] }

func (p *parser) refuse(pos int, word string) {
	p.fail(pos, "%s is not supported: %s", word, gone[word])
}
