package column

import (
	"bytes"
	"strings"
)

// IsNull returns true if text without quotes means that a value is missing. It applies unless the user gives other
// texts.
func IsNull(text []byte) bool {
	switch len(text) {
	case 0:
		return true
	case 1:
		return text[0] == '?'
	case 2:
		return string(text) == "NA" || string(text) == `\N`
	case 3:
		return bytes.EqualFold(text, []byte("nan")) || bytes.EqualFold(text, []byte("n/a"))
	case 4:
		return bytes.EqualFold(text, []byte("null")) || string(text) == "None"
	}
	return false
}

// MeansMissing returns true if people write the text where they have no value.
func MeansMissing(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "-", "--", ".", "?", "na", "n/a", "nan", "none", "null", "missing", "unknown":
		return true
	}
	return false
}

// InShell returns a list of words as a user types it in a shell.
func InShell(words []string) string {
	list := strings.Join(words, ",")
	if strings.ContainsFunc(list, func(r rune) bool { return !strings.ContainsRune(",.-/_+:=@%", r) && !isLetter(r) }) {
		list = "'" + strings.ReplaceAll(list, "'", `'\''`) + "'"
	}
	return list
}

func isLetter(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }
