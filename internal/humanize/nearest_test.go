package humanize

import "testing"

func TestName(t *testing.T) {
	columns := []string{"age", "income", "label", "Größe", "x1", "x2"}
	for _, c := range []struct{ name, want string }{
		{"agee", "age"}, {"ag", "age"}, {"AGE", "age"}, {"incmoe", "income"}, {"incme", "income"}, {"lable", "label"},
		{"labels", "label"}, {"GRÖßE", "Größe"}, {"x3", ""}, {"x11", ""}, {"X1", "x1"}, {"x", ""}, {"2", ""}, {"y", ""}, {"age2", "age"}, {"xx2", "x2"}, {"", ""}, {"weight", ""},
	} {
		if got := Nearest(c.name, columns); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("without candidates: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b, 10); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a, 10); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
