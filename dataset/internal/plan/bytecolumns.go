package plan

import (
	"strings"
	"unicode/utf8"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
)

// byteColumns leaves out columns with bytes that are no text: in a type of texts, if half of the values or more are none.
var byteColumns = treatment{
	takes:   func(c *Counts) bool { return c.hasBytes() && !c.IsNamed && !c.IsCategorical },
	inputs:  noInputs,
	becomes: alwaysWords("left out: " + noText),
}

// noText is the reason to leave a column of bytes out.
const noText = "bytes that are no text"

// AddBytes counts a value if it is no text: valid UTF-8, in a type of bytes without control characters except tabs and
// line ends. It returns false for a text.
func (c *Counts) AddBytes(value string, typeOfBytes bool) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }
	if utf8.ValidString(value) && !(typeOfBytes && strings.ContainsFunc(value, control)) {
		return false
	}
	if c.byteValues++; c.byteValues == 1 {
		c.firstBytes, c.typeOfBytes = strings.Clone(value), typeOfBytes
	}
	return true
}

func (c *Counts) hasBytes() bool {
	return c.byteValues > 0 && (c.typeOfBytes || 2*c.byteValues >= c.values())
}

// noTextError returns the error that an option names a column of bytes.
func (c *Counts) noTextError() error {
	return column.Mark(message.Errorf("column %q has bytes that are no text, such as %.20q: leave it out with --exclude",
		c.Input.Name, c.firstBytes), column.ErrColumn)
}
