package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
)

// manPages returns the man pages of the command and of its verbs, in section 1.
func manPages(root *cobra.Command) (files []file) {
	files = append(files, manPage(root, root))
	for _, verb := range root.Commands() {
		if verb.Name() != "help" && verb.Name() != "completion" {
			files = append(files, manPage(root, verb))
		}
	}
	return files
}

// manPage returns the man page of a command, from its help.
func manPage(root, cmd *cobra.Command) file {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	var b bytes.Buffer
	fmt.Fprintf(&b,
		".TH %s 1 \"\" \"halfspace %s\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", strings.ToUpper(roff(name)),
		console.Number, roff(name), roff(cmd.Short), roff(cmd.UseLine()))
	literal(&b, cmd.Long)
	if cmd.HasExample() {
		b.WriteString(".SH EXAMPLES\n")
		literal(&b, cmd.Example)
	}
	b.WriteString(".SH OPTIONS\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		placeholder, text := pflag.UnquoteUsage(f)
		text = strings.TrimPrefix(strings.TrimPrefix(text, placeholder), " ")
		if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" {
			text += " (default " + d + ")"
		}
		fmt.Fprintf(&b, ".TP\n.B \\-\\-%s %s\n%s\n", roff(f.Name), roff(placeholder), line(text))
	})
	if cmd == root {
		b.WriteString(".SH COMMANDS\n")
		for _, verb := range root.Commands() {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(verb.Name()), line(verb.Short))
		}
	}
	return file{name: "man/" + name + ".1", text: b.Bytes()}
}

// literal writes text whose lines stay as they are.
func literal(b *bytes.Buffer, text string) {
	b.WriteString(".nf\n")
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(line(l) + "\n")
	}
	b.WriteString(".fi\n")
}

// roff returns text without the meaning that backslashes and dashes have in roff.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
}

// line is roff for a whole line, whose first character must not begin a request.
func line(text string) string {
	text = roff(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// completions returns the scripts that complete the command's verbs and options in four shells.
func completions(root *cobra.Command) (files []file, err error) {
	for _, shell := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"halfspace.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"_halfspace", root.GenZshCompletion},
		{"halfspace.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"halfspace.ps1", root.GenPowerShellCompletionWithDesc},
	} {
		var b bytes.Buffer
		err = cmp.Or(err, shell.write(&b))
		files = append(files, file{name: "completions/" + shell.name, text: b.Bytes()})
	}
	return files, err
}
