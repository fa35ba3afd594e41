package humanize

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longestLine is the largest number of characters of Line.
const longestLine = 1000

// EscapeControls replaces unprintable characters of a text by escapes such as \x1b: control characters, which a
// terminal would obey, marks that change the direction of text, and bytes that aren't UTF-8.
func EscapeControls(s string) string {
	plain := func(r rune, size int) bool { return strconv.IsPrint(r) && !(r == utf8.RuneError && size == 1) }
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if plain(r, size) {
			b.WriteString(s[i : i+size])
		} else {
			quoted := strconv.Quote(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

// EscapeControlsJSON replaces unprintable characters in the strings of JSON by escapes. Programs read the same values.
func EscapeControlsJSON(text []byte) []byte {
	var b []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r < utf8.RuneSelf && r != 0x7f || strconv.IsPrint(r) {
			b = append(b, text[:size]...)
		} else if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		} else {
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b
}

// Line returns a text as one visible line of at most 1,000 characters. A longer text loses its middle.
func Line(s string) string {
	words := strings.FieldsFunc(WithoutMiddle(s, longestLine), func(r rune) bool { return r == '\n' || r == '\r' })
	return WithoutMiddle(EscapeControls(strings.Join(words, " ")), longestLine)
}

// WithoutMiddle returns a text of at most most characters, with dots in place of the middle of a longer text.
func WithoutMiddle(s string, most int) string {
	const dots = " ... "
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	head, tail := 0, len(s)
	for range (most - len(dots)) / 2 {
		_, n := utf8.DecodeRuneInString(s[head:])
		_, m := utf8.DecodeLastRuneInString(s[:tail])
		head, tail = head+n, tail-m
	}
	return s[:head] + dots + s[tail:]
}

// FirstCharacters returns the first most characters of a text, and then "..." if the text is longer.
func FirstCharacters(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
