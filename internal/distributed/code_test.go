package distributed

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
)

type inner struct {
	Exported []int64
	hidden   [2][]float64
	err      error
	skipped  func()
}

type outer struct {
	name    string
	flag    bool
	small   int8
	big     uint64
	narrow  []float32
	numbers []uint32
	wide    []float64
	none    []float64
	empty   []float64
	inner   *inner
	nothing *inner
	list    []inner
}

func (i *inner) Fields() []any { return []any{&i.Exported, &i.hidden, &i.err, &i.skipped} }

func (o *outer) Fields() []any {
	return []any{&o.name, &o.flag, &o.small, &o.big, &o.narrow, &o.numbers, &o.wide, &o.none, &o.empty, &o.inner, &o.nothing, &o.list}
}

func example() outer {
	return outer{name: "a\nb", flag: true, small: -7, big: math.MaxUint64, narrow: []float32{1.5, float32(math.Inf(-1)), math.SmallestNonzeroFloat32},
		numbers: []uint32{0, math.MaxUint32},
		wide:    []float64{math.Copysign(0, -1), math.MaxFloat64, 5e-324}, empty: []float64{},
		none: nil, nothing: nil, inner: &inner{Exported: []int64{math.MinInt64, 3}, hidden: [2][]float64{{1}, nil}},
		list: []inner{{}, {hidden: [2][]float64{nil, {2, 3}}}}}
}

// TestCode: what is decoded equals what was encoded, fields that aren't exported too.
func TestCode(t *testing.T) {
	want := example()
	b, err := Encode(want)
	require.NoError(t, err)
	var got outer
	if err := Decode(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("decoded %+v, error %v, want %+v", got, err, want)
	}
	if !math.Signbit(got.wide[0]) {
		t.Error("-0 became 0")
	}
	for _, e := range []error{block.ErrNoLabels, errors.New("row 3: wrong")} {
		b, err := Encode(inner{err: e, skipped: func() {}})
		var got inner
		if err == nil {
			err = Decode(b, &got)
		}
		if err != nil || got.err == nil || got.err.Error() != e.Error() || errors.Is(got.err, block.ErrNoLabels) != (e == block.ErrNoLabels) {
			t.Errorf("error %v became %v, error %v", e, got.err, err)
		}
	}
	require.Error(t, require.ErrorOf(Encode(map[string]int{})), "a map[string]int can't be encoded")
	require.Error(t, require.ErrorOf(Encode(struct{ hidden int }{})), "its field hidden isn't exported")
}

// TestDamaged: bytes that are cut off, longer or wrong are errors or other values. No length is believed.
func TestDamaged(t *testing.T) {
	b, err := Encode(example())
	require.NoError(t, err)
	var v outer
	for n := range len(b) {
		if err := Decode(b[:n], &v); err == nil {
			t.Errorf("%d of %d bytes were decoded", n, len(b))
		}
		wrong := append([]byte(nil), b...)
		wrong[n] ^= 0xff
		_ = Decode(wrong, &v)
	}
	if err := Decode(append(b, 0), &v); err == nil {
		t.Error("a byte more was decoded")
	}
}

// TestUnknown: a pass of another program is an error.
func TestUnknown(t *testing.T) {
	p := block.Pass{Task: "no such task", Args: 1}
	require.Error(t, require.ErrorOf(EncodePass(p)), "no such task")
	b, err := checkpoint.Write(func(w *checkpoint.Walk) { w.Text(&p.Task) })
	require.NoError(t, err)
	require.Error(t, require.ErrorOf(DecodePass(b)), "no task is called \"no such task\": the programs of the cluster differ")
	if _, err := Run(context.Background(), p, nil, nil, 0, 1); err == nil {
		t.Error("a task without a name ran")
	}
}
