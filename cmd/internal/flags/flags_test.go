package flags

import (
	"testing"

	"github.com/spf13/cobra"

	"halfspace/internal/humanize"
	"halfspace/internal/require"
)

// TestPlainNumbers compares the flags of each type with the grammar of numbers, and their values with those of humanize.ParseNumber.
func TestPlainNumbers(t *testing.T) {
	cmd := new(cobra.Command)
	f := cmd.Flags()
	number, whole, long, seed := f.Float64("real", 0, ""), f.Int("whole", 0, ""), f.Int64("long", 0, ""), f.Uint64("seed", 0, "")
	PlainNumbers(cmd)
	for text := range require.Texts(3, 20_000) {
		want, _ := humanize.ParseNumber(text)
		err := f.Set("real", text)
		if (err == nil) != require.IsNumber(text) || err == nil && want == want && *number != want {
			t.Fatalf("--real %s is %v, %v, want %v", text, *number, err, want)
		}
		for name, got := range map[string]func() float64{"whole": func() float64 { return float64(*whole) }, "long": func() float64 { return float64(*long) }, "seed": func() float64 { return float64(*seed) }} {
			if err := f.Set(name, text); err == nil && (!require.IsNumber(text) || got() != want) {
				t.Fatalf("--%s %s is %v, want %v", name, text, got(), want)
			}
		}
	}
	for text, want := range map[string]int{"010": 10, "0": 0, "-0": 0, "+7": 7, "-7": -7, "000": 0} {
		if err := f.Set("whole", text); err != nil || *whole != want {
			t.Errorf("--whole %s is %d, %v, want %d", text, *whole, err, want)
		}
	}
	for _, text := range []string{"1_000", "0x10", "0b1", "0o7", "", "-", "1.5", "1e3"} {
		if f.Set("whole", text) == nil {
			t.Errorf("--whole %q is %d", text, *whole)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "256MiB": 256 << 20, "8G": 8 << 30, "8g": 8 << 30, "1.5k": 1536, "10KB": 10000, "3B": 3,
		"2TiB": 2 << 40, "5MB": 5e6, "7 GB": 7e9} {
		var s Size
		if err := s.Set(text); err != nil || s.Bytes != want || s.Limit() != want || s.String() != text {
			t.Errorf("%s is %d, error %v, want %d", text, s.Bytes, err, want)
		}
	}
	var none Size
	if limit := none.Limit(); limit < 64<<20 {
		t.Errorf("the default is %d bytes", limit)
	}
	for _, text := range []string{"", "G", "-1G", "0", "NaN", "Inf", "1e40", "8GiBs", "8x", "8 m m"} {
		if err := new(Size).Set(text); err == nil {
			t.Errorf("%q is a size", text)
		}
	}
}
