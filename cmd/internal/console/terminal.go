package console

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// terminal returns w if it is a terminal, otherwise nil.
func terminal(w io.Writer) *os.File {
	if f, is := w.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// usualWidth is the width used for a terminal that doesn't report its width.
const usualWidth = 80

// width returns the number of characters in a line of a terminal.
func width(f *os.File) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return usualWidth
}

// unicodeTerminal tells whether the locale says that the terminal shows Unicode.
func unicodeTerminal() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToUpper(value)
			return strings.Contains(value, "UTF-8") || strings.Contains(value, "UTF8")
		}
	}
	return false
}
