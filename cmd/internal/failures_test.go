package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"halfspace/cmd/internal/flags"
)

func TestISAVariable(t *testing.T) {
	data := textbook(t)
	t.Setenv(flags.ISAVariable, "mmx")
	for _, args := range [][]string{{"train", "--algo", "perceptron", data, "--label", "y"}, {"cpu"}} {
		status, _, stderr := command(args...)
		if status != exitUsage || !strings.Contains(stderr, flags.ISAVariable+": unknown instruction set") || !isOneLine(stderr) {
			t.Errorf("%s: status %d: %q", args[0], status, stderr)
		}
	}
	if got := decode(t, "train", "--algo", "perceptron", data, "--label", "y", "--isa", "generic", "--json")["isa"]; got != "generic" {
		t.Errorf("--isa generic ran on %v", got)
	}
	t.Setenv(flags.ISAVariable, "generic")
	if got := decode(t, "cpu", "--json")["isa"]; got != "generic" {
		t.Errorf("%s=generic gives %v", flags.ISAVariable, got)
	}
}

// TestOddNames: a name that is no UTF-8 can't be written to a model.
func TestOddNames(t *testing.T) {
	name := filepath.Join(text(t, map[string]string{"x.csv": "x\xff,y\n3,1\n1,0\n"}), "x.csv")
	status, _, stderr := command("train", name, "--label", "y")
	if want := `a model can't be made of this data: name of feature "x\xff" is not valid UTF-8`; status != exitFailed || !strings.Contains(stderr, want) {
		t.Errorf("status %d, %s", status, stderr)
	}
}
