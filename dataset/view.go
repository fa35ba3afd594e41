package dataset

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/float16"

	"halfspace/kernel"
)

// A view reads an array of numbers as T. Read returns rows lo to hi, converted into scratch unless they lie in
// memory as T, and what that lost of them. Where the array is null the value is arbitrary.
type view[T kernel.Float] struct {
	array arrow.Array
	read  func(lo, hi int, scratch []T) (values []T, lost loss)
}

func newView[T kernel.Float](a arrow.Array) (view[T], error) {
	v := view[T]{array: a}
	switch a := a.(type) {
	case *array.Float32:
		v.read = floats[T](a.Float32Values())
	case *array.Float64:
		v.read = floats[T](a.Float64Values())
	case *array.Int8:
		v.read = integers[T](a.Int8Values())
	case *array.Int16:
		v.read = integers[T](a.Int16Values())
	case *array.Int32:
		v.read = integers[T](a.Int32Values())
	case *array.Int64:
		v.read = integers[T](a.Int64Values())
	case *array.Uint8:
		v.read = integers[T](a.Uint8Values())
	case *array.Uint16:
		v.read = integers[T](a.Uint16Values())
	case *array.Uint32:
		v.read = integers[T](a.Uint32Values())
	case *array.Uint64:
		v.read = integers[T](a.Uint64Values())
	case *array.Float16:
		v.read = halfFloats[T](a.Values())
	case *array.Boolean:
		v.read = booleans[T](a)
	case *array.Date32:
		v.read = integers[T](a.Date32Values())
	case *array.Date64:
		v.read = integers[T](a.Date64Values())
	case *array.Time32:
		v.read = integers[T](a.Time32Values())
	case *array.Time64:
		v.read = integers[T](a.Time64Values())
	case *array.Timestamp:
		v.read = integers[T](a.TimestampValues())
	case *array.Duration:
		v.read = integers[T](a.DurationValues())
	case *array.Decimal128:
		v.read = decimals[T](a.Values(), a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		v.read = decimals[T](a.Values(), a.DataType().(*arrow.Decimal256Type).Scale)
	default:
		return v, fmt.Errorf("it is %s in a record, and a feature is %s", describe(a.DataType()), featureTypes)
	}
	return v, nil
}

// A loss is what reading numbers as T lost.
type loss uint8

const (
	none    loss = iota
	rounded      // of some the last digits
	merged       // whole numbers became others, so that some may no longer be told apart
)

func floats[T, S kernel.Float](src []S) func(lo, hi int, scratch []T) ([]T, loss) {
	if same, ok := any(src).([]T); ok {
		return func(lo, hi int, _ []T) ([]T, loss) { return same[lo:hi], none }
	}
	return func(lo, hi int, scratch []T) ([]T, loss) {
		lost := none
		scratch = scratch[:hi-lo]
		for i, v := range src[lo:hi] {
			scratch[i] = T(v)
			if S(scratch[i]) != v {
				lost = max(lost, lossOf(float64(v)))
			}
		}
		return scratch, lost
	}
}

// lossOf returns what is lost of a number that T doesn't hold. Beyond 2^53 all are whole, and count nothing.
func lossOf(v float64) loss {
	if m := math.Abs(v); m >= 1<<24 && m < 1<<53 && m == math.Trunc(m) {
		return merged
	}
	return rounded
}

// integer are the types of Arrow's whole numbers, dates and times.
type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | uint8 | uint16 | uint32 | uint64
}

func integers[T kernel.Float, S integer](src []S) func(lo, hi int, scratch []T) ([]T, loss) {
	digits := 53
	if unsafe.Sizeof(T(0)) == 4 {
		digits = 24
	}
	return func(lo, hi int, scratch []T) ([]T, loss) {
		part := src[lo:hi]
		scratch = scratch[:len(part)]
		sign, all := 8*unsafe.Sizeof(S(0))-1, S(0)
		for i, v := range part {
			scratch[i] = T(v)
			all |= v ^ v>>sign // without branches: the magnitude, or, of negative numbers, one less
		}
		if uint64(all)>>digits == 0 {
			return scratch, none
		}
		for _, v := range part {
			if m := magnitude(v); bits.Len64(m)-bits.TrailingZeros64(m) > digits && m != 0 {
				return scratch, merged
			}
		}
		return scratch, none
	}
}

func magnitude[S integer](v S) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func halfFloats[T kernel.Float](src []float16.Num) func(lo, hi int, scratch []T) ([]T, loss) {
	return func(lo, hi int, scratch []T) ([]T, loss) {
		scratch = scratch[:hi-lo]
		for i, v := range src[lo:hi] {
			scratch[i] = T(halfFloat(v))
		}
		return scratch, none
	}
}

// halfFloat returns the value of a half-precision number. Arrow's own conversion gets subnormal ones wrong.
func halfFloat(v float16.Num) float32 {
	b := uint32(v.Uint16())
	sign, exponent, fraction := b>>15<<31, b>>10&0x1f, b&0x3ff
	switch exponent {
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

func booleans[T kernel.Float](a *array.Boolean) func(lo, hi int, scratch []T) ([]T, loss) {
	return func(lo, hi int, scratch []T) ([]T, loss) {
		scratch = scratch[:hi-lo]
		clear(scratch)
		for i := range scratch {
			if a.Value(lo + i) {
				scratch[i] = 1
			}
		}
		return scratch, none
	}
}

// decimals reads each as the nearest float64.
func decimals[T kernel.Float, S decimal128.Num | decimal256.Num](src []S, scale int32) func(lo, hi int, scratch []T) ([]T, loss) {
	return func(lo, hi int, scratch []T) ([]T, loss) {
		lost := none
		scratch = scratch[:hi-lo]
		for i, v := range src[lo:hi] {
			f, exact := decimal(v, scale)
			scratch[i] = T(f)
			switch held := float64(scratch[i]) == f; {
			case !held:
				lost = max(lost, lossOf(f))
			case !exact:
				lost = max(lost, rounded)
			}
		}
		return scratch, lost
	}
}

// decimal returns the float64 nearest to v / 10^scale, and whether it equals it.
func decimal[S decimal128.Num | decimal256.Num](v S, scale int32) (f float64, exact bool) {
	var n *big.Int
	switch v := any(v).(type) {
	case decimal128.Num:
		if small := int64(v.LowBits()); v.HighBits() == small>>63 && small>>53 == small>>63 && scale >= 0 && scale <= 22 {
			power := math.Pow10(int(scale)) // exact, as small is: the quotient is rounded once
			f = float64(small) / power
			return f, math.FMA(f, power, -float64(small)) == 0
		}
		n = v.BigInt()
	case decimal256.Num:
		n = v.BigInt()
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale < 0 {
		return new(big.Rat).SetInt(power.Mul(power, n)).Float64()
	}
	return new(big.Rat).SetFrac(n, power).Float64()
}

// sound tells whether rows lo to lo+len(values), read as values, hold finite numbers and no nulls.
func (v view[T]) sound(lo int, values []T) bool {
	if v.array.NullN() > 0 {
		for i := range values {
			if v.array.IsNull(lo + i) {
				return false
			}
		}
	}
	return finite(values)
}

// finite tells whether no value is NaN or infinite: then all products with zero are zeros, and so is their sum.
func finite[T kernel.Float](values []T) bool {
	if kernel.Active() == kernel.Generic {
		return !slices.ContainsFunc(values, func(x T) bool { return x-x != 0 }) // whose Dot is slow
	}
	var zeros [256]T
	for part := range slices.Chunk(values, len(zeros)) {
		if kernel.Dot(part, zeros[:len(part)]) != 0 {
			return false
		}
	}
	return true
}

// tooWide is what is wrong with a number that isn't missing.
const tooWide = " is too large for float32 (use --dtype float64)"

// problem returns the first row that isn't sound, and what is wrong there.
func (v view[T]) problem(lo int, values []T) (row int, what string) {
	for row = lo; finite(values[row-lo:row-lo+1]) && !v.array.IsNull(row); row++ {
	}
	what = v.text(row)
	if !isMissing(v.array, row) {
		what += tooWide
	}
	return row, what
}

// text is the value of a row for messages.
func (v view[T]) text(row int) string {
	exact, err := newView[float64](v.array)
	if err != nil || v.array.IsNull(row) {
		return "null"
	}
	value, _ := exact.read(row, row+1, make([]float64, 1))
	return fmt.Sprint(value[0])
}

// mend reads rows lo to hi into dst, fill in place of those that are missing: one number for all, or one for each. It
// returns what that lost of the others, and the first that it can't hold at all and what is wrong there, or "".
func (v view[T]) mend(lo, hi int, dst []T, fill []float64) (lost loss, row int, what string) {
	gaps := missing(v.array, lo, hi)
	for from, i := lo, 0; from < hi; i++ {
		to := hi
		if i < len(gaps) {
			to = gaps[i]
			dst[to-lo] = T(fill[(to-lo)%len(fill)])
		}
		values, all := v.read(from, to, dst[from-lo:])
		copy(dst[from-lo:], values)
		if !finite(values) {
			row, what = v.problem(from, values)
			return lost, row, what
		}
		lost, from = max(lost, all), to+1
	}
	return lost, 0, ""
}
