package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"halfspace/internal/model"
)

// identifier returns name as a part of an identifier: ASCII letters, digits and underscores, beginning with a letter.
func identifier(name string) string {
	text := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if text = strings.TrimLeft(text, "_"); text == "" {
		return "model"
	}
	if text[0] <= '9' {
		return "model_" + text
	}
	return text
}

// number returns the shortest decimal that parses back to v.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// A source writes a source file. It keeps the first error.
type source struct {
	*bufio.Writer
	m     *model.Model
	name  string
	words *strings.Replacer // of the words of templates
}

// newSource begins a source file. words are further words of templates, with the texts that they stand for.
func newSource(w io.Writer, m *model.Model, name string, words ...string) *source {
	other, positive := sides(m)
	words = append(words, "NAME", name, "WIDTH", strconv.Itoa(m.Width()), "CLASSES", strconv.Itoa(len(m.Classes)),
		"THRESHOLD", number(m.ScoreThreshold()),
		"POSITIVE", strconv.Itoa(positive), "OTHER", strconv.Itoa(other), "WINNER", strconv.Quote(m.Positive.Text))
	return &source{bufio.NewWriter(w), m, name, strings.NewReplacer(words...)}
}

// template writes a file of templates. It writes nothing if there is no such file: not every language needs it.
func (s *source) template(name string) {
	text, _ := templates.ReadFile("source/" + name)
	s.words.WriteString(s, string(text))
}

// functions writes the functions that compute scores and predictions.
func (s *source) functions(extension string, l *linearScores) {
	if len(l.weights) > 1 {
		s.template("scores" + extension)
	} else {
		s.template("score" + extension)
	}
}

func (s *source) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// numbers writes a line for each number, with the name of its feature.
func (s *source) numbers(indent string, numbers []float64) {
	width := 0
	for _, v := range numbers {
		width = max(width, len(number(v)))
	}
	for i, v := range numbers {
		s.line("%s%-*s // %d: %q", indent, width+1, number(v)+",", i, s.m.FeatureName(i))
	}
}

// weights writes the rows of the matrix of weights, each after the name of its class if there are several.
func (s *source) weights(tab string, l *linearScores) {
	for k, row := range l.weights {
		class := ""
		if len(l.weights) > 1 {
			class = fmt.Sprintf(" // %q", s.m.Classes[k].Text)
		}
		s.line("%s{%s", tab, class)
		s.numbers(tab+tab, row)
		s.line("%s},", tab)
	}
}

// list returns the numbers, separated by commas.
func list(numbers []float64) string { return strings.Join(textsOf(numbers, number), ", ") }

// classes returns the texts of the classes, quoted by quote, separated by commas.
func classes(m *model.Model, quote func(string) string) string {
	return strings.Join(textsOf(classTexts(m.Classes), quote), ", ")
}

// input writes the lines of a comment that describe x.
func (s *source) input(l *linearScores) {
	s.line("// x has %d numbers: the model's features in its order, as they are in the data. The", s.m.Width())
	s.line("// weights below name them. A feature x=category is 1 where column x has the category,")
	s.line("// else 0.")
	if l.replacements != nil {
		s.line("// NaN and infinities are missing values. The numbers \"missing\" take their place.")
	}
	switch c := s.m.Calibration; {
	case len(l.weights) > 1:
	case s.m.LogOdds():
		s.line("// The probability of %q is 1/(1 + exp(-score)).", s.m.Positive.Text)
	case c != nil && c.Method == model.Platt:
		s.line("// The probability of %q is 1/(1 + exp(%s*score + %s)).", s.m.Positive.Text, number(c.Classes[0].A), number(c.Classes[0].B))
	}
}

// noRowFunction writes the comment that the file has no function for the features of a row, and the reason; nil: there
// is none.
func (s *source) noRowFunction(why error) {
	if why != nil {
		s.line("// No function makes the features of a row, since %v.", why)
	}
}
