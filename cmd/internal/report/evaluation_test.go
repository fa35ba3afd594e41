package report

import (
	"reflect"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/schema"
)

// TestMisses: the rows that are most wrong have the values that they had in the data, and the features that moved their scores most.
func TestMisses(t *testing.T) {
	spec := &schema.Spec{Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsError}}
	for i := range 10 {
		spec.Preprocessing.Columns = append(spec.Preprocessing.Columns, schema.Column{Name: string(rune('a' + i)), Kind: schema.NumberColumn, Center: []float64{10}, Scale: []float64{4}})
	}
	m := model.New(spec, []float32{0, 5, 1, 1, 1, 1, 1, 1, 1, 0})
	m.Algorithm = "logistic"
	r := &Evaluation{Classes: m.Classes, worstRows: []train.MisclassifiedRow{{Row: 7, Class: 0, Predicted: 1, Score: 12, Probability: 0.25,
		Features: []train.Value{{Feature: 0, Value: 3}, {Feature: 1, Value: 2}, {Feature: 2, Value: -1}, {Feature: 9, Value: 1}}}}}
	s := r.WorstErrors(m, nil)
	want := [][]string{{"row", "class", "predicted", "score", "probability of the class", "a", "b", "c", "j"}, {"7", "0", "1", "12", "0.25", "22", "18", "6", "14"}}
	if got := append([][]string{s.Tables[0].Head}, s.Tables[0].Rows...); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i := range 10 {
		r.worstRows[0].Features = append(r.worstRows[0].Features[:i], train.Value{Feature: i, Value: 1})
	}
	if got := s.Tables[0].Head[5:]; len(s.Text) != 2 || len(got) != 4 {
		t.Errorf("%v, %v", got, s.Text)
	}
	if got := r.WorstErrors(m, nil).Tables[0].Head[5:]; strings.Join(got, "") != "bcdefghi" {
		t.Errorf("shown are %v: those that moved the score", got)
	}
}
