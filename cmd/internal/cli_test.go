package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	for _, verb := range []string{"", "train", "predict", "eval", "inspect", "export", "import", "convert", "gen", "cpu", "bench", "bench compare"} {
		text := succeed(t, append(strings.Fields(verb), "--help")...)
		_, examples, ok := strings.Cut(text, "Examples:\n")
		if !ok || !strings.HasPrefix(strings.TrimSpace(examples), strings.TrimSpace("halfspace "+verb)) && verb != "cpu" {
			t.Errorf("%s --help has no example:\n%s", verb, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "\t") || len(line) > 81 && !strings.HasPrefix(line, "  halfspace") || strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") && !strings.HasPrefix(line, "  -") {
				t.Errorf("%s --help: untidy line %q", verb, line)
			}
		}
	}
	for args, same := range map[string]string{"": "--help", "help": "--help", "help train": "train --help",
		"help completion zsh": "completion zsh --help", "completion": "completion --help"} {
		if text := succeed(t, strings.Fields(args)...); text != succeed(t, strings.Fields(same)...) {
			t.Errorf("halfspace %s prints\n%s", args, text)
		}
	}
}

// panics is a writer that breaks.
type panics struct{}

func (panics) Write([]byte) (int, error) { panic("two\nlines") }

func TestPanicIsOneLine(t *testing.T) {
	var stderr bytes.Buffer
	status := run(context.Background(), []string{"cpu"}, panics{}, &stderr)
	if status != exitFailed || !isOneLine(stderr.String()) || !strings.Contains(stderr.String(), "internal error: two lines") {
		t.Errorf("status %d: %q", status, stderr.String())
	}
}
