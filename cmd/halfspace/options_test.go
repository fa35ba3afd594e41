package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"halfspace/internal/train"
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

// ofShards finds the sentence of an option that says what it does with several shards.
var ofShards = regexp.MustCompile(` With several --shards,[^.]*\.`)

// sharedBy is the number of learners from which on an option has its line in the first table.
const sharedBy = 2

// options returns a page with a table of the options that several learners have, and a table for each learner of its others.
func options() string {
	const head = "\n| option | values | default | meaning |\n|---|---|---|---|\n"
	var b strings.Builder
	b.WriteString("# Options of every learner (hyperparameters)\n\nWhich options has a learner? `halfspace train --algo svm --help` begins with them, and " +
		"`halfspace train --help-all` lists all.\nThe learners print this page (`go test ./cmd/halfspace -update`).\n\n## Shared options\n\nA learner that differs has the option in its own table too.\n" + head)
	users, shared := map[string]int{}, map[string]string{}
	for _, l := range train.Learners {
		for i := range l.Options {
			users[l.Options[i].Name]++
		}
	}
	for _, l := range train.Learners {
		for i := range l.Options {
			if o := &l.Options[i]; users[o.Name] >= sharedBy && shared[o.Name] == "" {
				shared[o.Name] = optionLine(l, o)
				b.WriteString(shared[o.Name])
			}
		}
	}
	for _, l := range train.Learners {
		fmt.Fprintf(&b, "\n## %s\n\nMinimizes %s. Use it for %s.\n", l.Name, l.Objective, l.WhenToUse)
		var as []string
		var own strings.Builder
		for i := range l.Options {
			o, line := &l.Options[i], shared[l.Options[i].Name]
			always := *o
			always.Condition = nil
			switch {
			case line == optionLine(l, o) || ofShards.ReplaceAllString(line, "") == optionLine(l, o):
				as = append(as, "`--"+o.Name+"`")
			case o.Condition != nil && !o.Condition.Except && line == optionLine(l, &always):
				as = append(as, fmt.Sprintf("`--%s` (with `--%s %s`)", o.Name, o.Condition.Option, strings.Join(o.Condition.Values, "|")))
			default:
				own.WriteString(optionLine(l, o))
			}
		}
		if as != nil {
			fmt.Fprintf(&b, "\nShared: %s.\n", strings.Join(as, ", "))
		}
		if own.Len() > 0 {
			b.WriteString(head + own.String())
		}
	}
	return b.String()
}

// optionLine returns an option's line of a table.
func optionLine(l *learner.Learner, o *learner.Option) string {
	return fmt.Sprintf("| `--%s` | %s | %s | %s |\n", o.Name, values(o), initial(l, o), cell(meaning(o)))
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
