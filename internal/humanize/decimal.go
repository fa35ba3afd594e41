package humanize

import (
	"strconv"
	"strings"
)

// ParseNumber returns the number in text, rounded to the nearest float64. The case of letters doesn't matter. The grammar is
//
//	number  = [sign] decimal | [sign] ("inf" | "infinity") | "nan"
//	decimal = (digits ["." [digits]] | "." digits) ["e" [sign] digits]
//	sign    = "+" | "-"
//
// Any other text is an error, also 1_000 and 0x1p3, which strconv.ParseFloat accepts. Errors are as from
// strconv.ParseFloat: a *strconv.NumError with strconv.ErrSyntax, or with strconv.ErrRange for a number that float64
// can't hold.
//
// All readers of files and all flags use this grammar.
func ParseNumber(text string) (float64, error) {
	if strings.ContainsAny(text, "_xX") { // underscores between digits, and hexadecimal digits
		return 0, &strconv.NumError{Func: "ParseFloat", Num: strings.Clone(text), Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(text, 64)
}
