package console

import (
	"testing"

	"halfspace/internal/message"
)

// TestSettings: options are words of a shell, or arguments of Python whose values Python reads as the same text.
func TestSettings(t *testing.T) {
	defer func(notation func(string) string) { ForPython, message.Notation, message.Files = false, notation, nil }(message.Notation)
	check := func(want string, got ...string) {
		t.Helper()
		for _, text := range got {
			if text != want {
				t.Errorf("%s, want %s", text, want)
			}
		}
	}
	check("--algo svm --l2 0.5", Settings("--algo svm --l2 0.5"))
	check("--null-values 'a b'", Setting("null-values", "a b", false))
	check("--standardize", Setting("standardize", "true", true))
	check("--standardize=false", Setting("standardize", "false", true))

	ForPython, message.Notation, message.Files = true, message.Python(nil), map[string]string{"/dev/fd/5": "X"}
	check(`algo="svm", l2=0.5, epochs=10`, Settings("--algo svm --l2 0.5 --epochs 10"))
	check(`null_values="a \"b\""`, Setting("null-values", `a "b"`, false))
	check("standardize=False", Setting("standardize", "false", true))
	check("standardize=True", Setting("standardize", "true", true))
	check("X", Literal("/dev/fd/5"))
	for _, text := range []string{"01", "1.50", "nan", "Inf", "+1", "0x10", "1_0", ""} {
		check(`"`+text+`"`, Literal(text))
	}
	for _, text := range []string{"0", "-1", "1e-05", "0.1"} {
		check(text, Literal(text))
	}
}
