package schema

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"halfspace/internal/humanize"
	"halfspace/internal/require"
)

// TestParseWritten: texts are the numbers of testdata/written.json, and tell of their marks.
func TestParseWritten(t *testing.T) {
	for _, c := range require.WrittenTexts(t, "testdata/written.json") {
		for point, want := range map[byte]*float64{'.': c.Point, ',': c.Comma} {
			w, ok := ParseWritten(c.Text, point)
			if ok != (want != nil) || ok && w.Value != *want {
				t.Errorf("%q with the decimal mark %q: %v, %t", c.Text, point, w.Value, ok)
			}
		}
	}
	for text, want := range map[string]Written{
		"50%": {Value: 50, Percent: true}, "€5": {Value: 5, Currency: '€'}, "(5.5 $)": {Value: -5.5, Currency: '$',
			Mark: true}, "1,500 K": {Value: 1.5e6, Letter: 'K', Mark: true},
		"0,431": {Value: 431, Mark: true, OtherMark: true}, "1,2e3": {Value: 12000, Mark: true, OtherMark: true},
		"1 000": {Value: 1000}, "00": {}, "0.5": {Value: 0.5, Mark: true},
	} {
		if got, ok := ParseWritten(text, '.'); !ok || got != want {
			t.Errorf("%q: %+v, %t, want %+v", text, got, ok, want)
		}
	}
}

// TestWrittenBefore: a text that an earlier version took for a number is the same number, unless a point or a comma
// follows an e.
func TestWrittenBefore(t *testing.T) {
	const alphabet = "0123456789012..,,,--++ee%% $€kM()'\u00a0\u2212x"
	letters, rng, numbers := []rune(alphabet), rand.New(rand.NewPCG(1, 1)), 0
	for range 400_000 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		text := b.String()
		for _, point := range []byte{'.', ','} {
			want, ok := writtenBefore(text, '.'+','-point, point)
			if i := strings.IndexByte(text, 'e'); !ok || math.IsInf(want, 0) || i >= 0 && strings.ContainsAny(text[i:], ".,") {
				continue
			}
			numbers++
			if got, ok := ParseWritten(text, point); !ok || got.Value != want || math.Signbit(got.Value) != math.Signbit(want) {
				t.Fatalf("%q with the decimal mark %q: %v, %t, want %v", text, point, got.Value, ok, want)
			}
		}
	}
	if numbers < 50_000 {
		t.Errorf("%d numbers", numbers)
	}
}

// writtenBefore is the parser of the versions that wrote the first models with the derivations plain and comma.
func writtenBefore(text string, group, point byte) (float64, bool) {
	text = strings.TrimSpace(text)
	text, _ = strings.CutSuffix(text, "%")
	isCurrency := func(r rune) bool { return unicode.Is(unicode.Sc, r) || unicode.IsSpace(r) }
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimFunc(strings.TrimPrefix(text, "-"), isCurrency)
	whole, fraction, _ := strings.Cut(text, string(point))
	if groups := strings.Split(whole, string(group)); len(groups) > 1 {
		for i, g := range groups {
			if len(g) != 3 && (i > 0 || len(g) == 0 || len(g) > 3) {
				return 0, false
			}
		}
		whole = strings.Join(groups, "")
	}
	if len(text) > 0 && (text[0] < '0' || text[0] > '9') && text[0] != point && text[0] != '+' {
		return 0, false // inf, nan, a second sign
	}
	v, err := humanize.ParseNumber(whole + "." + fraction)
	if len(fraction) == 0 {
		v, err = humanize.ParseNumber(whole)
	}
	if negative {
		v = -v
	}
	return v, err == nil
}
