package schema

import "testing"

// TestLookLikeQuantity: numbers with one unit are a quantity; codes, dates and names are none.
func TestLookLikeQuantity(t *testing.T) {
	for _, of := range []struct {
		texts []string
		want  bool
	}{
		{[]string{"13.5", "26.5", "1e5", "-3"}, true},
		{[]string{"13.5 kg", "26.5 kg", "1,070 kg"}, true},
		{[]string{"$13.50", "$1,026.5"}, true},
		{[]string{"EUR 3", "EUR 4.5"}, true},
		{[]string{"12 %", "3.5 %"}, true},
		{[]string{"2020-01-02", "2020-01-03"}, false},
		{[]string{"12A", "13B", "14C"}, false},
		{[]string{"10 kg", "apple", "3 kg"}, false},
		{[]string{"A12", "A13"}, false},
	} {
		var classes []Class
		for _, text := range of.texts {
			classes = append(classes, Class{Kind: String, Text: text})
		}
		if got := LookLikeQuantity(classes); got != of.want {
			t.Errorf("%q: %v", of.texts, got)
		}
	}
}
