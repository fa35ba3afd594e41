package column

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

	"halfspace/internal/message"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

// A View reads an array of numbers as T. Read returns the rows from lo up to, but not including, hi, and the loss of
// precision. It converts the numbers into scratch, unless the array stores them as T. If the array is null in a row,
// the value is arbitrary.
type View[T float32 | float64] struct {
	Array arrow.Array
	Read  func(lo, hi int, scratch []T) (values []T, lost Loss)
}

// NewView32 returns a view of an array of numbers as float32. It returns an error for an array of another type.
func NewView32(a arrow.Array) (View[float32], error) { return newView[float32](a) }

func NewView64(a arrow.Array) (View[float64], error) { return newView[float64](a) }

func newView[T float32 | float64](a arrow.Array) (View[T], error) {
	v, d := View[T]{Array: a}, a.Data()
	switch a.DataType().ID() {
	case arrow.FLOAT32:
		v.Read = floats[T](arrow.GetValues[float32](d, 1))
	case arrow.FLOAT64:
		v.Read = floats[T](arrow.GetValues[float64](d, 1))
	case arrow.INT8:
		v.Read = integers[T](arrow.GetValues[int8](d, 1))
	case arrow.INT16:
		v.Read = integers[T](arrow.GetValues[int16](d, 1))
	case arrow.DATE32:
		v.Read = dates[T](arrow.GetValues[int32](d, 1))
	case arrow.TIMESTAMP:
		v.Read = dates[T](arrow.GetValues[int64](d, 1))
	case arrow.INT32, arrow.TIME32:
		v.Read = integers[T](arrow.GetValues[int32](d, 1))
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.DURATION:
		v.Read = integers[T](arrow.GetValues[int64](d, 1))
	case arrow.UINT8:
		v.Read = integers[T](arrow.GetValues[uint8](d, 1))
	case arrow.UINT16:
		v.Read = integers[T](arrow.GetValues[uint16](d, 1))
	case arrow.UINT32:
		v.Read = integers[T](arrow.GetValues[uint32](d, 1))
	case arrow.UINT64:
		v.Read = integers[T](arrow.GetValues[uint64](d, 1))
	case arrow.FLOAT16:
		v.Read = halfFloats[T](a.(*array.Float16).Values())
	case arrow.BOOL:
		v.Read = booleans[T](a.(*array.Boolean))
	case arrow.DECIMAL128:
		v.Read = decimals[T](a.(*array.Decimal128).Values(), a.DataType().(*arrow.Decimal128Type).Scale)
	case arrow.DECIMAL256:
		v.Read = decimals[T](a.(*array.Decimal256).Values(), a.DataType().(*arrow.Decimal256Type).Scale)
	default:
		return v, fmt.Errorf("it is %s in a record, and a feature is %s", Describe(a.DataType()), FeatureTypes)
	}
	return v, nil
}

// Numbers returns all values of an array of numbers.
func Numbers(a arrow.Array) ([]float64, error) {
	if f, is := a.(*array.Float64); is {
		return f.Float64Values(), nil
	}
	v, err := NewView64(a)
	if err != nil {
		return nil, err
	}
	values, _ := v.Read(0, a.Len(), make([]float64, a.Len()))
	return values, nil
}

// A Loss is the loss of precision when numbers are read as T.
type Loss uint8

const (
	None    Loss = iota
	rounded      // the last digits of some numbers
	Merged       // whole numbers changed, so that different numbers may have become equal
)

func floats[T, S float32 | float64](src []S) func(lo, hi int, scratch []T) ([]T, Loss) {
	if same, ok := any(src).([]T); ok {
		return func(lo, hi int, _ []T) ([]T, Loss) { return same[lo:hi], None }
	}
	return func(lo, hi int, scratch []T) ([]T, Loss) {
		scratch = scratch[:hi-lo]
		if wide, ok := any(src).([]float64); ok {
			return scratch, narrow(any(scratch).([]float32), wide[lo:hi])
		}
		for i, v := range src[lo:hi] { // nothing is lost
			scratch[i] = T(v)
		}
		return scratch, None
	}
}

// narrow writes src to dst, and returns the loss.
func narrow(dst []float32, src []float64) Loss {
	// A number from 2^-126 to 2^24 is exact if its last 29 bits are 0. No such number is Merged.
	const last, odd = 1<<29 - 1, 1 << 63
	switch all := f64.Narrow(dst, src); {
	case all&(odd|last) == 0:
		return None
	case all&odd == 0:
		return rounded
	}
	lost := None
	for i, v := range src {
		if float64(dst[i]) != v {
			lost = max(lost, LossOf(v))
		}
	}
	return lost
}

// LossOf returns the loss for a number that T can't hold exactly. A number of 2^53 or more counts as rounded: every
// float64 from there on is whole, so that being whole says nothing about the number.
func LossOf(v float64) Loss {
	if m := math.Abs(v); m >= 1<<24 && m < 1<<53 && m == math.Trunc(m) {
		return Merged
	}
	return rounded
}

// integer is the types of Arrow's whole numbers, dates and times.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func integers[T float32 | float64, S integer](src []S) func(lo, hi int, scratch []T) ([]T, Loss) {
	digits := 53
	if unsafe.Sizeof(T(0)) == 4 {
		digits = 24
	}
	return func(lo, hi int, scratch []T) ([]T, Loss) {
		part := src[lo:hi]
		scratch = scratch[:len(part)]
		if narrowWhole(scratch, part) {
			return scratch, None
		}
		sign, all := 8*unsafe.Sizeof(S(0))-1, S(0)
		for i, v := range part {
			scratch[i] = T(v)
			all |= v ^ v>>sign // without branches: the magnitude; for negative numbers, the magnitude less 1
		}
		if uint64(all)>>digits == 0 {
			return scratch, None
		}
		for _, v := range part {
			if m := magnitude(v); bits.Len64(m)-bits.TrailingZeros64(m) > digits && m != 0 {
				return scratch, Merged
			}
		}
		return scratch, None
	}
}

// dates reads dates or times. An infinite one is NaN, which loses nothing.
func dates[T float32 | float64, S int32 | int64](src []S) func(lo, hi int, scratch []T) ([]T, Loss) {
	if !slices.ContainsFunc(src, isInfinite) {
		return integers[T](src)
	}
	finite := slices.Clone(src)
	for i, v := range src {
		if isInfinite(v) {
			finite[i] = 0
		}
	}
	read := integers[T](finite)
	return func(lo, hi int, scratch []T) ([]T, Loss) {
		values, lost := read(lo, hi, scratch)
		for i, v := range src[lo:hi] {
			if isInfinite(v) {
				values[i] = T(math.NaN())
			}
		}
		return values, lost
	}
}

// narrowWhole writes integers of up to 24 bits to dst as float32. If an integer has more, or the types aren't int64 and float32, it returns
// false.
func narrowWhole[T float32 | float64, S integer](dst []T, src []S) bool {
	to, narrow := any(dst).([]float32)
	from, whole := any(src).([]int64)
	return narrow && whole && kernel.NarrowWhole(to, from)>>24 == 0
}

func magnitude[S integer](v S) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func halfFloats[T float32 | float64](src []float16.Num) func(lo, hi int, scratch []T) ([]T, Loss) {
	return func(lo, hi int, scratch []T) ([]T, Loss) {
		scratch = scratch[:hi-lo]
		for i, v := range src[lo:hi] {
			scratch[i] = T(HalfFloat(v))
		}
		return scratch, None
	}
}

// HalfFloat returns the value of a half-precision number. Arrow's own conversion is wrong for subnormal numbers.
func HalfFloat(v float16.Num) float32 {
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

func booleans[T float32 | float64](a *array.Boolean) func(lo, hi int, scratch []T) ([]T, Loss) {
	return func(lo, hi int, scratch []T) ([]T, Loss) {
		scratch = scratch[:hi-lo]
		clear(scratch)
		for i := range scratch {
			if a.Value(lo + i) {
				scratch[i] = 1
			}
		}
		return scratch, None
	}
}

// decimals reads each decimal as the nearest float64.
func decimals[T float32 | float64, S decimal128.Num | decimal256.Num](src []S, scale int32) func(lo, hi int, scratch []T) ([]T, Loss) {
	return func(lo, hi int, scratch []T) ([]T, Loss) {
		lost := None
		scratch = scratch[:hi-lo]
		for i, v := range src[lo:hi] {
			f, exact := Decimal(v, scale)
			scratch[i] = T(f)
			switch held := float64(scratch[i]) == f; {
			case !held:
				lost = max(lost, LossOf(f))
			case !exact:
				lost = max(lost, rounded)
			}
		}
		return scratch, lost
	}
}

// Decimal returns the float64 nearest to v / 10^scale, and true if they are equal.
func Decimal[S decimal128.Num | decimal256.Num](v S, scale int32) (f float64, exact bool) {
	var n *big.Int
	switch v := any(v).(type) {
	case decimal128.Num:
		if small := int64(v.LowBits()); v.HighBits() == small>>63 && small>>53 == small>>63 && scale >= 0 && scale <= 22 {
			power := math.Pow10(int(scale)) // exact, as small is exact: the quotient is rounded once
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

// Sound returns true if the rows lo to lo+len(values)-1, which Read returned as values, have finite numbers and no
// nulls.
func (v View[T]) Sound(lo int, values []T) bool {
	if v.Array.NullN() > 0 {
		for i := range values {
			if v.Array.IsNull(lo + i) {
				return false
			}
		}
	}
	return Finite(values)
}

// Finite returns true if no value is NaN or infinite. It uses that the dot product of finite values with zeros is
// zero.
func Finite[T float32 | float64](values []T) bool {
	if kernel.Active() == kernel.Generic {
		return !slices.ContainsFunc(values, func(x T) bool { return x-x != 0 }) // the generic Dot is slow
	}
	switch v := any(values).(type) {
	case []float32:
		return vanishes(v, zeros32[:], kernel.Dot)
	case []float64:
		return vanishes(v, zeros64[:], f64.Dot)
	}
	return false
}

var (
	zeros32 [256]float32
	zeros64 [256]float64
)

// vanishes returns true if the dot product with zeros is zero for each part of values.
func vanishes[T float32 | float64](values, zeros []T, dot func(x, y []T) T) bool {
	for part := range slices.Chunk(values, len(zeros)) {
		if dot(part, zeros[:len(part)]) != 0 {
			return false
		}
	}
	return true
}

// TooWide is the error text about a number that isn't missing but can't be used.
func TooWide() string {
	return message.Sprintf(" is too large for float32 (divide the column, or train with --standardize)")
}

// Problem returns the first row that isn't sound, and the error text.
func (v View[T]) Problem(lo int, values []T) (row int, what string) {
	for row = lo; Finite(values[row-lo:row-lo+1]) && !v.Array.IsNull(row); row++ {
	}
	what = v.Text(row)
	if !IsMissing(v.Array, row) {
		what += TooWide()
	}
	return row, what
}

// Text returns the value of a row as messages show it.
func (v View[T]) Text(row int) string {
	exact, err := NewView64(v.Array)
	switch {
	case err != nil || v.Array.IsNull(row):
		return "null"
	case infiniteDate(v.Array, row):
		return "an infinite date"
	}
	value, _ := exact.Read(row, row+1, make([]float64, 1))
	return fmt.Sprint(value[0])
}

// Mend reads the rows from lo up to, but not including, hi into dst. It replaces missing values by fill: one number
// for all rows, or a number for each row. It returns the loss of precision for the other values. If T can't hold a
// value, Mend returns the first row with such a value and an error text; otherwise the text is "".
func (v View[T]) Mend(lo, hi int, dst []T, fill []float64) (lost Loss, row int, what string) {
	gaps := Missing(v.Array, lo, hi)
	for from, i := lo, 0; from < hi; i++ {
		to := hi
		if i < len(gaps) {
			to = gaps[i]
			dst[to-lo] = T(fill[(to-lo)%len(fill)])
		}
		values, all := v.Read(from, to, dst[from-lo:])
		copy(dst[from-lo:], values)
		if !Finite(values) {
			row, what = v.Problem(from, values)
			return lost, row, what
		}
		lost, from = max(lost, all), to+1
	}
	return lost, 0, ""
}
