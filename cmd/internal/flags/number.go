package flags

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/internal/decimal"
)

// PlainNumbers makes the number flags of a command read the grammar of package decimal. Without it, pflag would read
// numbers as Go source does: 1_000, 0x10, and 010 for 8.
func PlainNumbers(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "int64", "uint64", "float64":
			f.Value = plainNumber{f.Value}
		}
	})
}

// A plainNumber is the value of a flag that takes a number.
type plainNumber struct{ pflag.Value }

// Set reads a number.
func (n plainNumber) Set(text string) error {
	if n.Type() == "float64" {
		if _, err := decimal.Parse(text); errors.Is(err, strconv.ErrSyntax) {
			return err
		}
		return n.Value.Set(text)
	}
	sign, digits := "", text
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		sign, digits = text[:1], text[1:]
	}
	if strings.Trim(digits, "0123456789") != "" || digits == "" {
		return strconv.ErrSyntax
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	return n.Value.Set(sign + digits)
}
