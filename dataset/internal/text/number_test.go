package text

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"halfspace/internal/decimal/decimaltest"
)

// FuzzNumber holds numbers against strconv, and their grammar against a regular expression.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"0", "-0", "1.5", "+.5e-3", "5.", ".", "", "-", "e1", "1e", "1e400", "9007199254740993",
		"0.1e22", "123456789012345678901234567890", "1_0", "0x1p-2", "inf", "9007199254740992e22", "1e0001", "9223372036854775807",
		"-9223372036854775808", "9223372036854775808", "-00", "+7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkNumber(t, text) })
}

func checkNumber(t *testing.T, text string) {
	t.Helper()
	got, err := parseNumber([]byte(text))
	want, wantErr := strconv.ParseFloat(text, 64)
	if !decimaltest.IsNumber(text) {
		wantErr = strconv.ErrSyntax
	}
	if (err == nil) != (wantErr == nil) || err == nil && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q: %v, %v, want %v, %v", text, got, err, want, wantErr)
	}
	whole, ok := parseInteger([]byte(text))
	wantWhole, err2 := strconv.ParseInt(text, 10, 64)
	if ok && (err2 != nil || whole != wantWhole) || !ok && err2 == nil && wantWhole != 0 || ok && math.Signbit(got) != (whole < 0) {
		t.Fatalf("%q: the integer %v, %v, want %v, %v", text, whole, ok, wantWhole, err2)
	}
	if errors.Is(wantErr, strconv.ErrRange) == (err == errNoNumber) && wantErr != nil {
		t.Fatalf("%q: %v, want %v", text, err, wantErr)
	}
}

func TestNumbers(t *testing.T) {
	for text := range decimaltest.Texts(2, 100_000) {
		checkNumber(t, text)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		v := math.Float64frombits(rng.Uint64())
		checkNumber(t, strconv.FormatFloat(v, "efg"[rng.IntN(3)], -1, 64))
		checkNumber(t, strconv.FormatInt(int64(rng.Uint64())>>rng.IntN(64), 10))
		checkNumber(t, strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(20), 64))
		checkNumber(t, fmt.Sprintf("%d.%de%d", rng.IntN(1e9), rng.IntN(1e9), rng.IntN(60)-30))
	}
}
