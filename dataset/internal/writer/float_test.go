package writer

import (
	"math"
	"strconv"
	"testing"

	"halfspace/internal/require"
)

// TestAppendFloat32: the text is strconv's, for each power of two and floats near it, for every 997th float from 2^-11 to
// 2^20, and in the full test for each of these.
func TestAppendFloat32(t *testing.T) {
	want, got := []byte(nil), []byte(nil)
	check := func(b uint32) {
		v := math.Float32frombits(b)
		format := byte('g')
		if f := float64(v); f == math.Trunc(f) && math.Abs(f) < 1e15 {
			format = 'f'
		}
		want, got = strconv.AppendFloat(want[:0], float64(v), format, -1, 32), appendFloat32(got[:0], v)
		if string(got) != string(want) {
			t.Fatalf("%x: %s, and strconv has %s", b, got, want)
		}
	}
	for exponent := range uint32(256) {
		for offset := range uint32(64) {
			for _, b := range []uint32{exponent<<23 + offset, exponent<<23 - offset, exponent<<23 + offset*131071} {
				check(b)
				check(b ^ 1<<31)
			}
		}
	}
	step := uint32(997)
	if !require.Small() {
		step = 1
	}
	for b := math.Float32bits(0x1p-11); b < math.Float32bits(0x1p20); b += step {
		check(b)
	}
	for _, text := range []string{"0.1", "0.3", "0.001", "0.9999999", "1.5", "999999.9", "524287.97", "0.0009765625", "-0.7", "123456.79", "1e-05", "NaN", "+Inf"} {
		v := require.Value(strconv.ParseFloat(text, 32))(t)
		if got := string(appendFloat32(nil, float32(v))); got != text {
			t.Errorf("%s, not %s", got, text)
		}
	}
}

func BenchmarkAppendFloat32(b *testing.B) {
	var values [1 << 10]float32
	for i := range values {
		values[i] = float32(math.Mod(float64(i)*0.6180339887498949, 1))
	}
	var buf [1 << 15]byte
	for _, c := range []struct {
		name string
		text func(buf []byte, v float32) []byte
	}{{"own", appendFloat32}, {"strconv", func(buf []byte, v float32) []byte { return strconv.AppendFloat(buf, float64(v), 'g', -1, 32) }}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				out := buf[:0]
				for _, v := range values {
					out = c.text(out, v)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/value")
		})
	}
}
