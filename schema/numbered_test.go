package schema

import (
	"fmt"
	"testing"

	"halfspace/internal/require"
)

// TestNumbered: numbered features have the names of their numbers, and a Spec of too many to list gives them without a list.
func TestNumbered(t *testing.T) {
	few := &Preprocessing{Nulls: NullsError, Columns: []Column{{Name: "f", Kind: NumberedColumn, First: 3, Elements: 4}, {Name: "x", Kind: NumberColumn}}}
	spec := &Spec{Preprocessing: few, Bias: true}
	var names []string
	for i := range spec.Width() {
		names = append(names, spec.FeatureName(i))
	}
	if fmt.Sprint(names) != "[f3 f4 f5 f6 x]" || spec.Cols() != 6 || few.Check(names) != nil || few.Check(names[1:]) == nil {
		t.Errorf("names %q of %d columns", names, spec.Cols())
	}
	many := &Preprocessing{Nulls: NullsError, Columns: []Column{{Name: "f", Kind: NumberedColumn, First: 1, Elements: MaxNumbered}}}
	if spec := (&Spec{Preprocessing: many}); spec.Width() != MaxNumbered || spec.FeatureName(MaxNumbered-1) != fmt.Sprint("f", MaxNumbered) {
		t.Errorf("%d features, the last %s", spec.Width(), spec.FeatureName(spec.Width()-1))
	}
	if err := CheckFeatures(nil, "label", many); err != nil {
		t.Error(err)
	}
}

// TestUnnamed: only columns that become too many features to list give their names.
func TestUnnamed(t *testing.T) {
	for want, c := range map[string]Column{
		"no features": {Name: "f", Kind: NumberedColumn, Elements: MaxNamed},
		"16777217 features, and a row has at most 16777216": {Name: "f", Kind: NumberedColumn, Elements: MaxNumbered + 1},
		`but "elements" is there: false`:                    {Name: "f", Kind: NumberedColumn},
		"its first feature has the number 1":                {Name: "f", Kind: ListColumn, Elements: MaxNumbered, First: 1},
		"its first feature has the number -1":               {Name: "f", Kind: NumberedColumn, Elements: MaxNumbered, First: -1},
		"-5 elements":                                       {Name: "f", Kind: NumberedColumn, Elements: -5},
	} {
		p := &Preprocessing{Nulls: NullsError, Columns: []Column{c}}
		require.Error(t, CheckFeatures(nil, "label", p), want)
	}
	two := &Preprocessing{Nulls: NullsError, Columns: []Column{{Name: "f", Kind: NumberedColumn, Elements: MaxNumbered}, {Name: "x", Kind: NumberColumn}}}
	require.Error(t, CheckFeatures(nil, "label", two), "16777217 features")
	if err := CheckFeatures(nil, "label", nil); err == nil {
		t.Error("no features, but no error")
	}
}

// TestConsecutive: the names of a numbered column are those of its features one by one, and are told from other names.
func TestConsecutive(t *testing.T) {
	for _, c := range []Column{{Name: "f", First: 0, Elements: 11}, {Name: "f", First: 7, Elements: 2}, {Name: "f", First: 9, Elements: 1}, {Name: "f", First: 98, Elements: 1003}} {
		c.Kind = NumberedColumn
		names := c.Names()
		for i, name := range names {
			if name != c.FeatureName(i) {
				t.Fatalf("feature %d is %q", i, name)
			}
		}
		if first, ok := Consecutive(names); !ok || first != c.First || len(names) != c.Elements {
			t.Errorf("%q: from %d, %t", names, first, ok)
		}
	}
	for _, names := range [][]string{nil, {""}, {"f"}, {"f01"}, {"f-1"}, {"f+1"}, {"x1"}, {"f1", "f3"}, {"f2", "f1"}, {"f1", ""}, {"f1", "x2"}, {"f18446744073709551616"}} {
		if _, ok := Consecutive(names); ok {
			t.Errorf("%q are consecutive", names)
		}
	}
}

// TestCheckConsecutive: consecutive names are checked as other names are.
func TestCheckConsecutive(t *testing.T) {
	many := Column{Name: "f", Kind: NumberedColumn, First: 1, Elements: MaxNamed + 1}
	for label, want := range map[string]string{"label": "", "f2": "", "f3": `feature "f3" is the label's column too`, "f11": `feature "f11" is the label's column too`, "f12": "", "f03": "", "\xff": "is not valid UTF-8 text"} {
		column := Column{Name: "f", Kind: NumberedColumn, First: 3, Elements: 9}
		for _, names := range [][]string{column.Names(), append([]string{"x"}, column.Names()...)} {
			if err := CheckFeatures(names, label, nil); want == "" && err != nil {
				t.Errorf("%q, label %q: %v", names, label, err)
			} else if want != "" {
				require.Error(t, err, want)
			}
		}
	}
	require.Error(t, CheckFeatures(many.Names(), "label", nil), "1048577 features, and a row has at most 1048576")
}
