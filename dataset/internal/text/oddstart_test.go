package text

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

// TestOddStart: the starts that are odd are those of an expression.
func TestOddStart(t *testing.T) {
	odd := regexp.MustCompile(`^-?(\+|\.|0[0-9])`)
	rng := rand.New(rand.NewPCG(59, 1))
	for range 20_000 {
		text := make([]byte, 1+rng.IntN(5))
		for i := range text {
			text[i] = "+-.0019,e\n"[rng.IntN(10)]
		}
		if string(text) == "-" { // begins no number
			continue
		}
		if got, want := hasOddStart(text), odd.Match(text); got != want {
			t.Fatalf("%q: %t, want %t", text, got, want)
		}
	}
}
