package flags

import (
	"testing"
)

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
