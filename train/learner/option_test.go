package learner_test

import (
	"testing"

	"halfspace/internal/humanize"
	"halfspace/internal/require"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// TestOptionGrammar sets an option to random texts: those that are no numbers are errors.
func TestOptionGrammar(t *testing.T) {
	var o perceptron.Settings
	for text := range require.Texts(17, 20_000) {
		want, _ := humanize.ParseNumber(text)
		if err := learner.EtaOption.Set(&o, text); (err == nil) != (require.IsNumber(text) && want > 0 && want <= 1) || err == nil && o.Eta != want {
			t.Fatalf("eta %q is %v, error %v", text, o.Eta, err)
		}
	}
}
