package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/train"
	"halfspace/train/learner"
)

var update = flag.Bool("update", false, "write learners/options.md from what the learners say of themselves")

// TestOptions: learners/options.md is what the learners say of themselves, and the page of each learner names all of its options.
func TestOptions(t *testing.T) {
	path := filepath.Join(root, "docs", "learners", "options.md")
	text := options()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, "docs/learners/options.md") != text {
		t.Error("docs/learners/options.md is not what the learners say: write it with go test ./cmd/halfspace -update")
	}
	list := read(t, "docs/learners/README.md")
	for _, l := range train.Learners {
		page := "docs/learners/" + strings.TrimPrefix(l.Name, "kernel-") + ".md"
		if l.Name == "kernel-perceptron" {
			page = "docs/learners/dual.md"
		}
		own := read(t, page)
		for _, o := range l.Options {
			if !strings.Contains(own, "`--"+o.Name+"`") {
				t.Errorf("%s doesn't name the option `--%s`", page, o.Name)
			}
		}
		if !strings.Contains(list, "`"+l.Name+"`") {
			t.Errorf("docs/learners/README.md doesn't name `%s`", l.Name)
		}
	}
}

// options returns a page with a table of options for each learner.
func options() string {
	var b strings.Builder
	b.WriteString("# Options of every learner\n\nThis page is written from what the learners say of themselves, by `go test ./cmd/halfspace -update`.\n")
	for _, l := range train.Learners {
		fmt.Fprintf(&b, "\n## %s\n\n", l.Name)
		fmt.Fprintf(&b, "| | |\n|---|---|\n| minimizes | %s |\n| use it for | %s |\n", cell(l.Objective), cell(l.WhenToUse))
		b.WriteString("\n| option | values | default | meaning |\n|---|---|---|---|\n")
		for i := range l.Options {
			o := &l.Options[i]
			fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", o.Name, values(o), initial(l, o), cell(meaning(o)))
		}
	}
	return b.String()
}

// values returns what an option may be.
func values(o *learner.Option) string {
	if len(o.Words) > 0 {
		return "`" + strings.Join(o.Words, "`, `") + "`"
	}
	if o.AllowedNumbers != "" {
		return cell(o.AllowedNumbers)
	}
	return o.Value
}

// initial returns an option's default.
func initial(l *learner.Learner, o *learner.Option) string {
	if text := o.Text(l.New()); text != "0" || !o.ZeroMeansChosen {
		return "`" + text + "`"
	}
	return "depends"
}

// meaning returns what an option does, and when it has an effect.
func meaning(o *learner.Option) string {
	if o.Condition == nil {
		return o.Help
	}
	effect := "an"
	if o.Condition.Except {
		effect = "no"
	}
	return fmt.Sprintf("%s It has %s effect with `--%s %s`.", o.Help, effect, o.Condition.Option, strings.Join(o.Condition.Values, "|"))
}

// cell returns text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
