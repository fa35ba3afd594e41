package schema

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"halfspace/internal/humanize"
	"halfspace/internal/require"
)

func TestClasses(t *testing.T) {
	sorted := []Class{FloatClass(-1e300), FloatClass(-2.5), IntClass(-2), IntClass(3), FloatClass(3.25), IntClass(10),
		IntClass(1<<62 + 1), IntClass(1<<62 + 2), UintClass(1 << 63), FloatClass(1e300), BoolClass(false), BoolClass(true),
		StringClass(""), StringClass("10"), StringClass("9"), StringClass("a")}
	shuffled := slices.Clone(sorted)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, Class.Compare)
	if !slices.Equal(shuffled, sorted) {
		t.Errorf("sorted: %v, want %v", shuffled, sorted)
	}
	for _, c := range sorted {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Class
		if err := json.Unmarshal(data, &back); err != nil || back != c {
			t.Errorf("%#v comes back from %s as %#v, error %v", c, data, back, err)
		}
	}
	if FloatClass(1) != IntClass(1) || UintClass(7) != IntClass(7) || FloatClass(math.Copysign(0, -1)) != IntClass(0) {
		t.Error("the same number is a different class in another type")
	}
	if FloatClass(1e19) != UintClass(1e19) || FloatClass(1<<63) != UintClass(1<<63) || FloatClass(-1<<63) != IntClass(math.MinInt64) {
		t.Error("the same number beyond 2^63 is a different class in another type")
	}
	for text, want := range map[string]Class{"01": IntClass(1), "1e0": IntClass(1), "+9007199254740993": IntClass(1<<53 + 1),
		"18446744073709551615": UintClass(math.MaxUint64), "-9223372036854775808.0": IntClass(math.MinInt64)} {
		if c, err := ParseNumber(text); err != nil || c != want {
			t.Errorf("%s is the class %v, error %v", text, c, err)
		}
	}
	for text := range require.Texts(13, 100_000) {
		v, wrong := humanize.ParseNumber(text)
		if c, err := ParseNumber(text); (err == nil) != (wrong == nil && v-v == 0) || err == nil && (c != FloatClass(v) || !require.IsNumber(text)) {
			t.Fatalf("%q is the class %v, error %v, and the number %v, error %v", text, c, err, v, wrong)
		}
	}
	for _, text := range []string{"", "one", "NaN", "Inf", "1e999", "1_0", "0x1p3"} {
		if c, err := ParseNumber(text); err == nil {
			t.Errorf("%q is the class %v", text, c)
		}
	}
	for _, v := range []float64{1 << 64, math.Nextafter(-1<<63, math.Inf(-1)), 1e300, 0.5} { // which no integer type holds
		if back, err := strconv.ParseFloat(FloatClass(v).Text, 64); err != nil || back != v {
			t.Errorf("%g is the class %s", v, FloatClass(v))
		}
	}
}
