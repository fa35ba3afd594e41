package humanize_test

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"halfspace/internal/humanize"
	"halfspace/internal/require"
)

// TestGrammar compares ParseNumber with the regular expression, and its values with those of strconv.ParseFloat.
func TestGrammar(t *testing.T) {
	numbers, onlyGo := 0, 0
	for text := range require.Texts(1, 100_000) {
		v, err := humanize.ParseNumber(text)
		is, want := err == nil || errors.Is(err, strconv.ErrRange), require.IsNumber(text)
		if is != want {
			t.Fatalf("%q is a number: %t, by the grammar %t", text, is, want)
		}
		goes, bad := strconv.ParseFloat(text, 64)
		switch {
		case !is && bad == nil:
			onlyGo++
		case is && bad == nil && math.Float64bits(v) != math.Float64bits(goes):
			t.Fatalf("%q is %v, want %v", text, v, goes)
		case is:
			numbers++
		}
	}
	if numbers < 10_000 || onlyGo < 10_000 {
		t.Errorf("%d texts are numbers, and %d others are numbers to strconv.ParseFloat: want 10000 of each", numbers, onlyGo)
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]error{"1_10": strconv.ErrSyntax, "0x1p3": strconv.ErrSyntax, "": strconv.ErrSyntax, "1e400": strconv.ErrRange} {
		if _, err := humanize.ParseNumber(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
