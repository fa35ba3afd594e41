package message

import (
	"errors"
	"fmt"
	"testing"
)

// TestNotations: the same error names an option as a Go program, a user of the command or a user of Python writes it.
func TestNotations(t *testing.T) {
	defer func() { Notation = Field }()
	estimator := Python(map[string]string{"l2": "alpha", "null-values": "null_values", "algo svm": "LinearSVC"})
	for name, c := range map[string]struct {
		notation func(string) string
		want     [4]string
	}{
		"program": {Field, [4]string{"L2 is -1: use 0 or more", "NullValues na or Solver lbfgs with Algo svm",
			"null (use Exclude, or Nulls drop)", "a -- b --- c --l2"}},
		"command": {Typed, [4]string{"--l2 is -1: use 0 or more", "--null-values na or --solver lbfgs with --algo svm",
			"null (use --exclude, or --nulls drop)", "a -- b --- c --l2"}},
		"python": {Python(nil), [4]string{"l2 is -1: use 0 or more", "null_values na or solver lbfgs with algo svm",
			"null (use exclude, or nulls drop)", "a -- b --- c --l2"}},
		"estimator": {estimator, [4]string{"alpha is -1: use 0 or more", "null_values na or solver lbfgs with LinearSVC",
			"null", "a -- b --- c --l2"}},
	} {
		Notation = c.notation
		got := [4]string{WrongValue("l2", -1, "0 or more").Error(),
			Refusal("null-values", "na", "or --%s %s with --algo %s", "solver", "lbfgs", "svm").Error(),
			Errorf("null (use --exclude, or --nulls drop)").Error(), Sprintf("a -- b --- c %s", "--l2")}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestRowError: an error about a row has its place as values, and says all that is known of it.
func TestRowError(t *testing.T) {
	null := errors.New("null")
	for want, e := range map[string]RowError{
		`a.csv: column "x", line 5, row 2: null`: {File: "a.csv", Row: 2, Line: 5, Column: "x", Err: null},
		`column "--x", row 0: null`:              {Column: "--x", Err: null},
		`a.csv: line 5, column "x": null`:        {File: "a.csv", Row: -1, Line: 5, Column: "x", Err: null},
		`row 7: null`:                            {Row: 7, Err: null},
	} {
		if e.Error() != want || !errors.Is(&e, null) || IsLocated(fmt.Errorf("more: %w", &e)) != (e.File != "") {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
	row := (*RowError)(nil)
	err := At(fmt.Errorf("fold 2: %w", &RowError{Row: 3, Column: "x", Err: null}), "a.csv", 5)
	if err.Error() != `fold 2: a.csv: column "x", line 5, row 3: null` || !errors.As(err, &row) || row.Line != 5 || row.Row != 3 {
		t.Errorf("%v has %+v", err, row)
	}
}
