// Package decimal reads numbers from text. All readers of files and all flags use its grammar.
package decimal

import (
	"strconv"
	"strings"
)

// Parse returns the number in text, rounded to the nearest float64. Words may have letters of either case. The grammar is
//
//	number  = [sign] decimal | [sign] ("inf" | "infinity") | "nan"
//	decimal = (digits ["." [digits]] | "." digits) ["e" [sign] digits]
//	sign    = "+" | "-"
//
// Other text is no number, such as 1_000 and 0x1p3, which strconv.ParseFloat reads. Errors are those of strconv.ParseFloat:
// a *strconv.NumError of strconv.ErrSyntax, or of strconv.ErrRange for a number that float64 can't hold.
func Parse(text string) (float64, error) {
	if strings.ContainsAny(text, "_xX") { // underscores between digits, and hexadecimal digits
		return 0, &strconv.NumError{Func: "ParseFloat", Num: strings.Clone(text), Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(text, 64)
}
