package export

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"halfspace/schema"
)

// cWords are the words that no member of a structure in C or C++ can have as its name.
var cWords = strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
	const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
	inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
	reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
	true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq errno NULL NAN linux unix`)

// cMember returns the member of a structure for a column.
func cMember(column string) string {
	name := strings.TrimPrefix(identifier("c"+column), "c")
	if name = strings.TrimLeft(name, "_"); name == "" || name[0] <= '9' {
		name = "column_" + name
	}
	return name
}

// cRow writes the structure of a row, and the function that makes the features of a row.
func (s *source) cRow(name string, all []field) error {
	s.line("// A row of the data. Texts and comparisons are of bytes.")
	s.line("struct %s_row {", name)
	for i := range all {
		f := &all[i]
		s.line("    // %s", f.about("NULL"))
		switch n := f.inputs[0].Elements; {
		case f.text:
			s.line("    const char *%s;", f.name)
		case n > 0:
			s.line("    double %s[%d];", f.name, n)
		default:
			s.line("    double %s;", f.name)
		}
	}
	s.line("};\n")
	if err := s.cTables(name, all); err != nil {
		return err
	}
	s.cHelpers(name, all)
	s.line("// %s_features sets x to the features of a row.", name)
	s.line("void %s_features(const struct %s_row *row, double *x)\n{", name, name)
	s.line("    for (long i = 0; i < %d; i++)\n        x[i] = 0;", s.m.Width())
	var marks []string
	for i := range all {
		for k := range all[i].inputs {
			if p := &all[i].inputs[k]; p.Derive == schema.Missing {
				marks = append(marks, s.cMark(&all[i], p.first))
			} else {
				s.line("    %s", cFeature(name, all[i].name, p))
			}
		}
	}
	for _, mark := range marks {
		s.line("    %s", mark)
	}
	s.line("}\n")
	return nil
}

// cMark returns the statement that sets a feature that marks missing values.
func (s *source) cMark(f *field, first int) string {
	value := "row->" + f.name
	switch at := f.derivedFirst(); {
	case at >= 0:
		value = fmt.Sprintf("x[%d] - x[%d] != 0", at, at)
	case f.text:
		value += " == NULL"
	default:
		value += " - " + value + " != 0"
	}
	return fmt.Sprintf("x[%d] = %s;", first, value)
}

// cFeature returns the statement that sets the features of an input.
func cFeature(name, member string, p *placed) string {
	value, x := "row->"+member, fmt.Sprintf("x[%d]", p.first)
	switch {
	case p.Derive == schema.Boolean:
		return fmt.Sprintf("%s = %s_truth(%s);", x, name, value)
	case p.Derive == schema.Plain:
		return fmt.Sprintf("%s = %s_number(%s, ',', '.');", x, name, value)
	case p.Derive == schema.Comma:
		return fmt.Sprintf("%s = %s_number(%s, '.', ',');", x, name, value)
	case p.Derive == schema.Days:
		return fmt.Sprintf("%s = %s - (%s);", x, value, number(p.Origin))
	case p.Derive.Dated():
		part, _ := datePart(p.Derive)
		return fmt.Sprintf("%s = %s_part(%s, %d, %s_%s);", x, name, value, part, name, tableName(p.Derive))
	case p.Kind == schema.ListColumn:
		return fmt.Sprintf("for (long i = 0; i < %d; i++)\n        x[%d + i] = %s[i];", p.Elements, p.first, value)
	case p.Hashed() && p.Learned():
		return fmt.Sprintf("%s_one(x + %d, %s != NULL, %s_bucket(%s, %d, %s_buckets%d, %d));", name, p.first, value, name, value, 1<<p.HashBits-1, name, p.first, len(p.Buckets))
	case p.Hashed():
		return fmt.Sprintf("%s_one(x + %d, %s != NULL, %s_bucket(%s, %d, NULL, 0));", name, p.first, value, name, value, 1<<p.HashBits-1)
	case p.Kind == schema.OneHotColumn && p.Values == "":
		return fmt.Sprintf("%s_one(x + %d, %s != NULL, %s_text(%s, %s_categories%d, %d));", name, p.first, value, name, value, name, p.first, len(p.Categories))
	case p.Kind == schema.OneHotColumn:
		return fmt.Sprintf("%s_one(x + %d, %s - %s == 0, %s_value(%s, %s_categories%d, %d));", name, p.first, value, value, name, value, name, p.first, len(p.Categories))
	}
	return fmt.Sprintf("%s = %s;", x, value)
}

// cTables writes the categories and buckets of columns, and the numbers of parts of dates.
func (s *source) cTables(name string, all []field) error {
	for i := range all {
		for k := range all[i].inputs {
			switch p := &all[i].inputs[k]; {
			case p.Hashed() && p.Learned():
				s.line("static const long %s_buckets%d[%d] = { // of %q", name, p.first, len(p.Buckets), p.Name)
				s.each(len(p.Buckets), func(i int) string { return strconv.Itoa(p.Buckets[i]) })
			case p.Kind == schema.OneHotColumn && p.Values == "":
				s.line("static const char *const %s_categories%d[%d] = { // of %q", name, p.first, len(p.Categories), p.Name)
				s.each(len(p.Categories), func(i int) string {
					if strings.Contains(p.Categories[i], "\x00") {
						return "NULL" // no text in C has it
					}
					return quoteC(p.Categories[i])
				})
			case p.Kind == schema.OneHotColumn:
				values, err := categoryValues(&p.Column)
				if err != nil {
					return fmt.Errorf("column %q: %w", p.Name, err)
				}
				s.line("static const double %s_categories%d[%d] = { // of %q", name, p.first, len(values), p.Name)
				s.each(len(values), func(i int) string { return number(values[i]) })
			default:
				continue
			}
			s.line("};\n")
		}
	}
	_, cyclic := needs(all)
	for _, d := range cyclic {
		_, table := datePart(d)
		s.line("static const double %s_%s[%d] = {", name, tableName(d), len(table))
		s.each(len(table), func(i int) string { return number(table[i]) })
		s.line("};\n")
	}
	return nil
}

// each writes n elements of a table, with a comma behind each.
func (s *source) each(n int, element func(int) string) {
	for i := range n {
		s.line("    %s,", element(i))
	}
}

// cHelpers writes the functions that the columns need.
func (s *source) cHelpers(name string, all []field) {
	n, cyclic := needs(all)
	write := func(text string) { s.WriteString(strings.ReplaceAll(text, "NAME", name)) }
	if n.texts || n.values || n.buckets {
		write("static void NAME_one(double *x, int known, long i)\n{\n    if (!known)\n        x[0] = NAN;\n    else if (i >= 0)\n        x[i] = 1;\n}\n\n")
	}
	if n.texts {
		write("static long NAME_text(const char *text, const char *const *of, long n)\n{\n    for (long i = 0; text && i < n; i++)\n" +
			"        if (of[i] && strcmp(text, of[i]) == 0)\n            return i;\n    return -1;\n}\n\n")
	}
	if n.values {
		write("static long NAME_value(double value, const double *of, long n)\n{\n    for (long i = 0; i < n; i++)\n" +
			"        if (of[i] == value)\n            return i;\n    return -1;\n}\n\n")
	}
	if n.buckets {
		write(template("hash.c"))
		write("static long NAME_bucket(const char *text, uint64_t mask, const long *of, long n)\n{\n    long bucket = text ? (long)(NAME_hash(text) & mask) : -1;\n" +
			"    if (!of)\n        return bucket;\n    for (long i = 0; i < n; i++)\n        if (of[i] == bucket)\n            return i;\n    return -1;\n}\n\n")
	}
	if n.number || n.truth {
		s.cMarks(name)
		write(template("space.c"))
	}
	if n.number {
		write(template("number.c"))
	}
	if n.truth {
		write(template("truth.c"))
	}
	if len(cyclic) > 0 {
		write(template("date.c"))
	}
}

// cMarks writes the code points of white space and of currency signs, as ranges.
func (s *source) cMarks(name string) {
	var spaces, currencies []string
	for _, of := range []struct {
		table *unicode.RangeTable
		list  *[]string
	}{{unicode.White_Space, &spaces}, {unicode.Sc, &currencies}} {
		add := func(lo, hi, stride uint32) {
			for ; stride > 1 && lo <= hi; lo += stride {
				*of.list = append(*of.list, fmt.Sprintf("{0x%x, 0x%x}", lo, lo))
			}
			if stride == 1 {
				*of.list = append(*of.list, fmt.Sprintf("{0x%x, 0x%x}", lo, hi))
			}
		}
		for _, r := range of.table.R16 {
			add(uint32(r.Lo), uint32(r.Hi), uint32(r.Stride))
		}
		for _, r := range of.table.R32 {
			add(r.Lo, r.Hi, r.Stride)
		}
	}
	s.line("enum { %s_spaces = %d, %s_currencies = %d };\n", name, len(spaces), name, len(currencies))
	s.line("static const long %s_marks[%d][2] = {", name, len(spaces)+len(currencies))
	s.each(len(spaces), func(i int) string { return spaces[i] })
	s.each(len(currencies), func(i int) string { return currencies[i] })
	s.line("};\n")
}
