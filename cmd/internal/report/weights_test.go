package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestWeights: the table's weights give the scores of the model, from the values of the data in their units.
func TestWeights(t *testing.T) {
	spec := &schema.Spec{Label: "y", Bias: true, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsMean, Columns: []schema.Column{
		{Name: "n", Kind: schema.NumberColumn, Means: []float64{1}, Center: []float64{10}, Scale: []float64{4}},
		{Name: "n", Kind: schema.NumberColumn, Derive: schema.Missing},
		{Name: "color", Kind: schema.OneHotColumn, Categories: []string{"blue", "green", "red"}},
		{Name: "at", Kind: schema.NumberColumn, Unit: "ms since 1970", Means: []float64{1}, Center: []float64{1e12}, Scale: []float64{86400e3}},
		{Name: "day", Kind: schema.NumberColumn, Derive: schema.Days, Origin: 20000, Means: []float64{3}, Center: []float64{50}, Scale: []float64{20}},
		{Name: "color", Kind: schema.NumberColumn, Derive: schema.Missing, Center: []float64{0.25}, Scale: []float64{0.5}},
	}}}
	m := model.New(spec, []float32{2, -1, 0.5, -0.25, 1.25, 3, -4, -0.6, 0.75})
	m.Algorithm, m.StdErrors = "logistic", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	s := Weights(m)
	if len(s) != 1 || len(s[0].Figures) != 1 {
		t.Fatal(s)
	}
	weights, units := map[string]float64{}, map[string]string{}
	for _, row := range s[0].Tables[0].Rows {
		if row[2] != "" {
			weights[row[0]], units[row[0]] = require.Value(strconv.ParseFloat(row[2], 64))(t), row[1]
		}
	}
	for name, unit := range map[string]string{"n": "unit", "n (missing)": "missing value", "at": "day since 1970", "day (days)": "day since 2024-10-04", "– red": "", "– (new)": "", "color (missing)": "missing value", "(intercept)": ""} {
		if got, ok := units[name]; got != unit || !ok {
			t.Errorf("%s is for each %q, want %q: %v", name, got, unit, s[0].Tables[0].Rows)
		}
	}
	for i, color := range []string{"blue", "green", "red", "missing"} {
		n, at, day := 7.0+float64(i), 1e12+5e8*float64(i), 12.0*float64(i)
		gap := 0.0
		if color == "missing" {
			gap = 1
		}
		want := 2*(n-10)/4 + []float64{0.5, -0.25, 1.25, 0}[i] - 0.6*(gap-0.25)/0.5 + 3*(at-1e12)/86400e3 - 4*(day-50)/20 + 0.75
		got := weights["(intercept)"] + weights["n"]*n + weights["– "+color] + weights["color (missing)"]*gap + weights["at"]*at/86400e3 + weights["day (days)"]*day
		if math.Abs(got-want) > 0.2 { // six digits of the intercept
			t.Errorf("%s: score %g, want %g", color, got, want)
		}
	}
	if text := strings.Join(s[0].Text, " "); !strings.Contains(text, "odds") || !strings.Contains(text, "mean of the column's categories") {
		t.Error(text)
	}
}
