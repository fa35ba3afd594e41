package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfspace/schema"
)

// goMember returns the field of a structure for a column.
func goMember(column string) string {
	name := strings.TrimLeft(cMember(column), "_")
	return strings.ToUpper(name[:1]) + name[1:]
}

// goImports returns the packages that the functions for the columns need.
func goImports(all []field) []string {
	n, cyclic := needs(all)
	var paths []string
	add := func(wanted bool, more ...string) {
		for _, path := range more {
			if wanted && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	add(n.texts || n.values || n.buckets, "math", "slices")
	add(n.buckets, "math/bits")
	add(n.truth, "math", "strings")
	add(n.number, "math", "strconv", "strings", "unicode")
	add(len(cyclic) > 0, "math", "time")
	slices.Sort(paths)
	return paths
}

// goRow writes the structure of a row, and the method that makes its features.
func (s *source) goRow(all []field) error {
	s.line("// A Row is a row of the data.\ntype Row struct {")
	for i := range all {
		f := &all[i]
		if i > 0 {
			s.line("")
		}
		s.line("\t// %s", f.about("nil"))
		switch n := f.inputs[0].Elements; {
		case f.text:
			s.line("\t%s *string", f.name)
		case n > 0:
			s.line("\t%s [%d]float64", f.name, n)
		default:
			s.line("\t%s float64", f.name)
		}
	}
	s.line("}\n")
	s.line("// Features returns the features of a row.\nfunc (r *Row) Features() []float64 {\n\tx := make([]float64, Features)")
	var marks []string
	for i := range all {
		for k := range all[i].inputs {
			if p := &all[i].inputs[k]; p.Derive == schema.Missing {
				marks = append(marks, goMark(&all[i], p.first))
			} else {
				s.line("\t%s", goFeature(all[i].name, p))
			}
		}
	}
	for _, mark := range marks {
		s.line("\t%s", mark)
	}
	s.line("\treturn x\n}\n")
	if err := s.goTables(all); err != nil {
		return err
	}
	s.goHelpers(all)
	return nil
}

// goMark returns the statement that sets a feature that marks missing values.
func goMark(f *field, first int) string {
	value := "r." + f.name
	switch at := f.derivedFirst(); {
	case at >= 0:
		value = fmt.Sprintf("x[%d]-x[%d] != 0", at, at)
	case f.text:
		value += " == nil"
	default:
		value += "-" + value + " != 0"
	}
	return fmt.Sprintf("if %s {\n\t\tx[%d] = 1\n\t}", value, first)
}

// goFeature returns the statement that sets the features of an input.
func goFeature(member string, p *placed) string {
	value, x := "r."+member, fmt.Sprintf("x[%d]", p.first)
	to := fmt.Sprintf("x[%d:]", p.first)
	switch {
	case p.Derive == schema.Boolean:
		return fmt.Sprintf("%s = truth(%s)", x, value)
	case p.Derive == schema.Plain:
		return fmt.Sprintf("%s = number(%s, \",\", \".\")", x, value)
	case p.Derive == schema.Comma:
		return fmt.Sprintf("%s = number(%s, \".\", \",\")", x, value)
	case p.Derive == schema.Days && p.Origin < 0:
		return fmt.Sprintf("%s = %s + %s", x, value, number(-p.Origin))
	case p.Derive == schema.Days:
		return fmt.Sprintf("%s = %s - %s", x, value, number(p.Origin))
	case p.Derive.Dated():
		part, _ := datePart(p.Derive)
		return fmt.Sprintf("%s = part(%s, %d, %s[:])", x, value, part, tableName(p.Derive))
	case p.Kind == schema.ListColumn:
		return fmt.Sprintf("copy(%s, %s[:])", to, value)
	case p.Hashed() && p.Learned():
		return fmt.Sprintf("one(%s, %s != nil, bucket(%s, %d, buckets%d[:]))", to, value, value, 1<<p.HashBits-1, p.first)
	case p.Hashed():
		return fmt.Sprintf("one(%s, %s != nil, bucket(%s, %d, nil))", to, value, value, 1<<p.HashBits-1)
	case p.Kind == schema.OneHotColumn && p.Values == "":
		return fmt.Sprintf("if one(%s, %s != nil, -1); %s != nil {\n\t\tone(%s, true, slices.Index(categories%d[:], *%s))\n\t}", to, value, value, to, p.first, value)
	case p.Kind == schema.OneHotColumn:
		return fmt.Sprintf("one(%s, %s-%s == 0, slices.Index(categories%d[:], %s))", to, value, value, p.first, value)
	}
	return fmt.Sprintf("%s = %s", x, value)
}

// goTables writes the categories and buckets of columns, and the numbers of parts of dates.
func (s *source) goTables(all []field) error {
	table := func(name, element string, n int, text func(int) string) {
		s.line("var %s = [%d]%s{", name, n, element)
		for i := range n {
			s.line("\t%s,", text(i))
		}
		s.line("}\n")
	}
	for i := range all {
		for k := range all[i].inputs {
			switch p := &all[i].inputs[k]; {
			case p.Hashed() && p.Learned():
				table(fmt.Sprintf("buckets%d", p.first), "int", len(p.Buckets), func(i int) string { return strconv.Itoa(p.Buckets[i]) })
			case p.Kind == schema.OneHotColumn && p.Values == "":
				table(fmt.Sprintf("categories%d", p.first), "string", len(p.Categories), func(i int) string { return strconv.Quote(p.Categories[i]) })
			case p.Kind == schema.OneHotColumn:
				values, err := categoryValues(&p.Column)
				if err != nil {
					return fmt.Errorf("column %q: %w", p.Name, err)
				}
				table(fmt.Sprintf("categories%d", p.first), "float64", len(values), func(i int) string { return number(values[i]) })
			}
		}
	}
	_, cyclic := needs(all)
	for _, d := range cyclic {
		_, numbers := datePart(d)
		table(tableName(d), "float64", len(numbers), func(i int) string { return number(numbers[i]) })
	}
	return nil
}

// goHelpers writes the functions that the columns need.
func (s *source) goHelpers(all []field) {
	n, cyclic := needs(all)
	if n.texts || n.values || n.buckets {
		s.WriteString("// one sets feature i of a category; missing categories are NaN, unknown ones have no feature.\n" +
			"func one(x []float64, known bool, i int) {\n\tif !known {\n\t\tx[0] = math.NaN()\n\t} else if i >= 0 {\n\t\tx[i] = 1\n\t}\n}\n\n")
	}
	if n.buckets {
		s.WriteString("func bucket(text *string, mask uint64, of []int) int {\n\tif text == nil {\n\t\treturn -1\n\t}\n\tbucket := int(hash(*text) & mask)\n" +
			"\tif of == nil {\n\t\treturn bucket\n\t}\n\treturn slices.Index(of, bucket)\n}\n\n")
		s.WriteString(template("hash.go.txt") + "\n")
	}
	if n.number {
		s.WriteString(template("number.go.txt"))
	}
	if n.truth {
		s.WriteString(template("truth.go.txt"))
	}
	if len(cyclic) > 0 {
		s.WriteString(template("date.go.txt"))
	}
}
