package column

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestInOrderReleases: what was made ahead is released where nobody takes it.
func TestInOrderReleases(t *testing.T) {
	for _, stop := range []int{0, 1, 3, 100} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		made := 0
		jobs := func(yield func(Job) bool) {
			for i := range 50 {
				ok := yield(Job{Make: func() (*Batch, error) {
					if stop == 100 && i == 5 {
						return nil, errors.New("stop")
					}
					b := array.NewInt64Builder(mem)
					defer b.Release()
					b.Append(int64(i))
					return &Batch{Rows: 1, Columns: []arrow.Array{b.NewArray()}}, nil
				}})
				if made++; !ok {
					return
				}
			}
		}
		taken := 0
		for b, err := range InOrder(context.Background(), NewPool(4), 0, jobs) {
			if err == nil && b.Columns[0].(*array.Int64).Value(0) != int64(taken) {
				t.Errorf("batch %d is %v", taken, b.Columns[0])
			}
			b.Release()
			if taken++; taken == stop {
				break
			}
		}
		if stop == 1 && made < 5 {
			t.Errorf("%d were made", made)
		}
		mem.AssertSize(t, 0)
	}
}

// TestHalfFloat compares every half-precision number with its definition.
func TestHalfFloat(t *testing.T) {
	for b := range 1 << 16 {
		want := math.Ldexp(float64(b&0x3ff|0x400), b>>10&0x1f-25)
		switch {
		case b>>10&0x1f == 0:
			want = math.Ldexp(float64(b&0x3ff), -24)
		case b&0x7fff == 0x7c00:
			want = math.Inf(1)
		case b&0x7c00 == 0x7c00:
			want = math.NaN()
		}
		if b>>15 != 0 {
			want = -want
		}
		got := HalfFloat(float16.FromBits(uint16(b)))
		if math.Float32bits(got) != math.Float32bits(float32(want)) && !(math.IsNaN(want) && got != got) {
			t.Fatalf("%#04x is %v, want %v", b, got, want)
		}
	}
}

// TestFinite puts each number that isn't finite at each place of slices of many lengths.
func TestFinite(t *testing.T) {
	const most, least = float32(math.MaxFloat32), 0x1p-149
	inf := float32(math.Inf(1))
	for n := range 20 {
		x := make([]float32, n)
		for i := range x {
			x[i] = []float32{0, -1, most, -most, least, -least}[i%6]
		}
		if !Finite(x) {
			t.Errorf("%v is finite", x)
		}
		for i := range x {
			for _, bad := range []float32{inf, -inf, inf - inf, -(inf - inf)} {
				was := x[i]
				x[i] = bad
				if Finite(x) {
					t.Errorf("%v at %d of %d is not finite", bad, i, n)
				}
				x[i] = was
			}
		}
	}
}

// TestDecimal holds decimals of every size against exact arithmetic.
func TestDecimal(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 20_000 {
		n := new(big.Int).SetUint64(rng.Uint64() >> rng.IntN(64))
		if i%3 == 0 {
			n.Lsh(n, uint(rng.IntN(60))).Add(n, big.NewInt(int64(rng.IntN(1000))))
		}
		if i%2 == 0 {
			n.Neg(n)
		}
		scale := int32(rng.IntN(45) - 5)
		want, ok := new(big.Rat).SetString(fmt.Sprintf("%de%d", n, -scale))
		if !ok {
			t.Fatal("no number")
		}
		f, exact := want.Float64()
		if got, all := Decimal(decimal128.FromBigInt(n), scale); got != f || all != exact {
			t.Fatalf("decimal128 %v, scale %d: %v exact %t, want %v %t", n, scale, got, all, f, exact)
		}
		if got, all := Decimal(decimal256.FromBigInt(n), scale); got != f || all != exact {
			t.Fatalf("decimal256 %v, scale %d: %v exact %t, want %v %t", n, scale, got, all, f, exact)
		}
	}
}

// TestOneLine: what the runtime says of code isn't what somebody with a file can use.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"runtime error: invalid memory address or nil pointer dereference":        "its sizes are out of range",
		"arrow/ipc: while reading: runtime error: index out of range [1] with\n0": "arrow/ipc: while reading: its sizes are out of range",
		"two\n  lines": "two lines",
	} {
		if got := OneLine(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNarrow holds the loss of a column of float64 against LossOf of each number.
func TestNarrow(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	kinds := []func() float64{func() float64 { return float64(rng.IntN(1000)) }, func() float64 { return float64(float32(rng.NormFloat64())) }, rng.NormFloat64,
		func() float64 { return math.Copysign(0, -1) }, func() float64 { return float64(rng.Int64() >> rng.IntN(64)) }, func() float64 { return math.Ldexp(rng.NormFloat64(), -rng.IntN(200)) },
		func() float64 { return math.Ldexp(float64(1+rng.IntN(3)), -rng.IntN(160)) }, func() float64 { return math.Float64frombits(rng.Uint64() &^ (1 << 62)) }}
	for range 2000 {
		src, want := make([]float64, rng.IntN(20)), None
		kind := kinds[rng.IntN(len(kinds))]
		for i := range src {
			if src[i] = kind(); rng.IntN(20) == 0 {
				src[i] = kinds[rng.IntN(len(kinds))]()
			}
			if float64(float32(src[i])) != src[i] {
				want = max(want, LossOf(src[i]))
			}
		}
		dst := make([]float32, len(src))
		if got := narrow(dst, src); got != want {
			t.Fatalf("%v: loss %d, want %d", src, got, want)
		}
		for i, v := range src {
			if math.Float32bits(dst[i]) != math.Float32bits(float32(v)) {
				t.Fatalf("%v is narrowed to %v", v, dst[i])
			}
		}
	}
}

// TestWhole holds integers of int64 as float32 against the conversion of each.
func TestWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for n := range 2000 {
		src := make([]int64, rng.IntN(600))
		bits := rng.IntN(64)
		for i := range src {
			if src[i] = rng.Int64() >> bits; rng.IntN(2) == 0 {
				src[i] = -src[i]
			}
			if n%3 == 0 {
				src[i] = []int64{0, -1, 1<<24 - 1, -1 << 24, 1<<24 - 2}[rng.IntN(5)]
			}
		}
		got, _ := integers[float32](src)(0, len(src), make([]float32, len(src)))
		for i, v := range src {
			if math.Float32bits(got[i]) != math.Float32bits(float32(v)) {
				t.Fatalf("%d is narrowed to %v", v, got[i])
			}
		}
	}
}

// TestLossOfDates: infinite dates lose no digit, and don't hide those that other dates lose.
func TestLossOfDates(t *testing.T) {
	for _, c := range []struct {
		values []int64
		narrow Loss // as float32
		wide   Loss // as float64
	}{
		{[]int64{5, math.MaxInt64, 7}, None, None}, {[]int64{-math.MaxInt64, 1<<24 + 1}, Merged, None},
		{[]int64{math.MinInt64}, None, None}, {[]int64{1<<53 + 1, math.MaxInt64}, Merged, Merged}, {[]int64{1<<24 + 1}, Merged, None},
	} {
		b := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Second})
		for _, v := range c.values {
			b.Append(arrow.Timestamp(v))
		}
		a := b.NewArray()
		narrow, err := NewView32(a)
		wide, bad := NewView64(a)
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		values, lost := narrow.Read(0, a.Len(), make([]float32, a.Len()))
		exact, blurred := wide.Read(0, a.Len(), make([]float64, a.Len()))
		if lost != c.narrow || blurred != c.wide {
			t.Errorf("%v: float32 loses %v, float64 %v; want %v, %v", c.values, lost, blurred, c.narrow, c.wide)
		}
		for i, v := range c.values {
			if inf := isInfinite(v); inf != math.IsNaN(float64(values[i])) || inf != math.IsNaN(exact[i]) || !inf && exact[i] != float64(v) {
				t.Errorf("%v: row %d is %v, %v", c.values, i, values[i], exact[i])
			}
		}
	}
}
