package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfspace/schema"
)

// A language is the syntax of the part of a source file that makes the features of a row. NAME stands for the model's name, and
// WIDTH for its number of features.
type language struct {
	extension                  string            // of its templates
	tab                        string            // begins an inner line
	rowStart                   string            // begins the structure of a row
	members                    [3]string         // formats of a member with its name and length: a text, a list, a number
	separator                  string            // between two members
	blockEnd                   string            // ends a structure or a table
	functionStart, functionEnd string            // of the function that makes the features
	table                      string            // format of the start of a table: type, name, length, comment
	types                      [3]string         // of elements of a table: whole numbers, texts, numbers
	row                        string            // begins the value of a member
	null                       string            // a missing text
	minusOperator              string            // between two operands
	markStatement              string            // sets the feature AT to 1 if CONDITION is true
	statements                 map[string]string // by placedInput.kind; see source.statement
	quote                      func(string) string
}

// kind returns the way in which the input makes its features.
func (p *placedInput) kind() string {
	switch {
	case p.Derive == schema.Missing:
		return "missing"
	case p.Derive == schema.Boolean:
		return "truth"
	case p.Derive == schema.Plain:
		return "plain"
	case p.Derive == schema.Comma:
		return "comma"
	case p.Derive == schema.Days:
		return "days"
	case p.Derive.Dated():
		return "date"
	case p.Kind == schema.ListColumn:
		return "list"
	case p.Words != nil:
		return "words"
	case p.Hashed() && p.Learned():
		return "learned"
	case p.Hashed():
		return "hash"
	case p.Kind == schema.OneHotColumn && p.Values == "":
		return "text"
	case p.Kind == schema.OneHotColumn:
		return "value"
	}
	return "number"
}

// helpers are the templates that an input of a kind needs.
var helpers = map[string][]string{"truth": {"space", "truth"}, "plain": {"space", "number"}, "comma": {"space", "number"}, "date": {"date"},
	"learned": {"category", "hash", "bucket"}, "hash": {"category", "hash", "bucket"},
	"text": {"category", "text"}, "value": {"category", "value"},
	"words": {"hash", "words"}}

// neededTemplates returns the templates that the columns need, in the order of the file, and the derivations of parts
// of dates.
func neededTemplates(all []field) (parts []string, cyclic []schema.Derivation) {
	wanted := map[string]bool{}
	for _, f := range all {
		for k := range f.inputs {
			p := &f.inputs[k]
			for _, part := range helpers[p.kind()] {
				wanted[part] = true
			}
			if p.kind() == "date" && !slices.Contains(cyclic, p.Derive) {
				cyclic = append(cyclic, p.Derive)
			}
		}
	}
	parts = []string{"category", "text", "value", "hash", "bucket", "words", "space", "number", "truth", "date"}
	return slices.DeleteFunc(parts, func(part string) bool { return !wanted[part] }), cyclic
}

func (s *source) structure(l *language, all []field) {
	s.line("%s", s.words.Replace(l.rowStart))
	for i := range all {
		f, format := &all[i], l.members[2]
		n := f.inputs[0].Elements
		switch {
		case f.text:
			format = l.members[0]
		case n > 0:
			format = l.members[1]
		}
		if i > 0 {
			s.WriteString(l.separator)
		}
		s.line("%s// %s", l.tab, f.about(l.null))
		s.line(l.tab+format, f.name, n)
	}
	s.line("%s", l.blockEnd)
}

// features writes the function that makes the features of a row. Marks of missing values come last, since some depend on
// other features.
func (s *source) features(l *language, all []field) {
	s.line("%s", s.words.Replace(l.functionStart))
	var marks []string
	for i := range all {
		f := &all[i]
		for k := range f.inputs {
			if p := &f.inputs[k]; p.kind() == "missing" {
				words := strings.NewReplacer("AT", strconv.Itoa(p.first), "CONDITION", l.missing(f))
				marks = append(marks, words.Replace(l.markStatement))
			} else {
				s.line("%s%s", l.tab, s.statement(l, l.row+f.name, p))
			}
		}
	}
	for _, mark := range marks {
		s.line("%s%s", l.tab, mark)
	}
	s.line("%s", l.functionEnd)
}

// missing returns the condition that a field has no value.
func (l *language) missing(f *field) string {
	value := l.row + f.name
	if at := f.derivedFirst(); at >= 0 {
		value = fmt.Sprintf("x[%d]", at)
	} else if f.text {
		return value + " == " + l.null
	}
	return value + l.minusOperator + value + " != 0"
}

// statement returns the statement that sets the features of an input with the given value.
func (s *source) statement(l *language, value string, p *placedInput) string {
	if p.Words != nil {
		return s.wordsStatement(l, value, p)
	}
	shift, part, table, count := "- "+number(p.Origin), 0, "", p.Elements+len(p.Categories)+len(p.Buckets)
	if p.Origin < 0 {
		shift = "+ " + number(-p.Origin)
	}
	if p.kind() == "date" {
		part, _ = datePart(p.Derive)
		table = tableName(p.Derive)
	}
	return strings.NewReplacer("NAME", s.name, "AT", strconv.Itoa(p.first), "VALUE", value, "COUNT",
		strconv.Itoa(count), "MASK", strconv.Itoa(1<<p.HashBits-1),
		"ORIGIN", number(p.Origin), "SHIFT", shift, "PART", strconv.Itoa(part), "TABLE", table).Replace(l.statements[p.kind()])
}

// tables writes the categories and buckets of columns, and the numbers of parts of dates.
func (s *source) tables(l *language, all []field) error {
	const whole, text, float = 0, 1, 2
	write := func(kind int, name, comment string, elements []string) {
		s.line(l.table, l.types[kind], name, len(elements), comment)
		for _, e := range elements {
			s.line("%s%s,", l.tab, e)
		}
		s.line("%s", l.blockEnd)
	}
	for i := range all {
		for k := range all[i].inputs {
			p := &all[i].inputs[k]
			categories, of := fmt.Sprintf("categories%d", p.first), fmt.Sprintf(" // of %q", p.Name)
			switch p.kind() {
			case "learned":
				write(whole, fmt.Sprintf("buckets%d", p.first), of, textsOf(p.Buckets, strconv.Itoa))
			case "text":
				write(text, categories, of, textsOf(p.Categories, l.quote))
			case "value":
				values, err := categoryValues(&p.Column)
				if err != nil {
					return fmt.Errorf("column %q: %w", p.Name, err)
				}
				write(float, categories, of, textsOf(values, number))
			}
		}
	}
	s.wordTables(l, all)
	_, cyclic := neededTemplates(all)
	for _, d := range cyclic {
		_, numbers := datePart(d)
		write(float, tableName(d), "", textsOf(numbers, number))
	}
	return nil
}

// helpers writes the functions that the columns need.
func (s *source) helpers(l *language, all []field) {
	parts, _ := neededTemplates(all)
	for _, part := range parts {
		if part == "space" && l.extension == ".c" {
			s.cMarks()
		}
		s.template(part + l.extension)
	}
}

// textsOf returns the text of each element of a list.
func textsOf[T any](list []T, text func(T) string) []string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = text(v)
	}
	return texts
}
