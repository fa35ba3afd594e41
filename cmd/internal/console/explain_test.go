package console

import (
	"testing"

	"halfspace/train"
)

// TestAsTyped: options get dashes in what learners say, other words don't.
func TestAsTyped(t *testing.T) {
	cases := map[string]string{
		"early-stop needs a pocket":                    "--early-stop needs a pocket",
		"set l2 above 0, such as 1":                    "set --l2 above 0, such as 1",
		"the form voted and a pocket take no l2":       "the form voted and a pocket take no --l2",
		"gamma 1e+300 and coef0 2 don't fit":           "--gamma 1e+300 and --coef0 2 don't fit",
		"eta is NaN: use a learning rate":              "--eta is NaN: use a learning rate",
		"use --l2 above 0":                             "use --l2 above 0",
		"the margin is the distance, the loss is zero": "the margin is the distance, the loss is zero",
		"end it earlier with epochs or max-updates":    "end it earlier with --epochs or --max-updates",
	}
	for _, l := range train.Learners {
		for _, o := range l.Options {
			cases[o.Name+" is -1: use 1"] = "--" + o.Name + " is -1: use 1"
		}
	}
	for text, want := range cases {
		if got := AsTyped(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestQuote: words are typed so that a shell makes them of it.
func TestQuote(t *testing.T) {
	if got, want := Quote("a.csv", "my file", "it's", "x*", ""), `a.csv 'my file' 'it'\''s' 'x*' ''`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
