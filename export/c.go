package export

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"halfspace/internal/model"
)

// WriteC writes the model as a C99 source file without dependencies. The names in the file begin with name;
// characters of name other than ASCII letters, digits and underscores become underscores. For two classes, the file
// has
//
//	double NAME_score(const double *x);
//	int NAME_predict(const double *x);
//
// For more classes, it has NAME_predict and
//
//	void NAME_scores(const double *x, double *scores);
//
// NAME_predict returns an index of NAME_classes, or -1 if a score isn't finite. If features of the model are other numbers
// than the columns of the data have, the file has the structure of a row, with a member for each column, and
//
//	void NAME_features(const struct NAME_row *row, double *x);
//
// There is none for crosses. WriteC returns an error unless the
// model has a vector of weights for each score. Models with kernels have none.
func WriteC(w io.Writer, m *model.Model, name string) error {
	l, err := newLinear(m)
	if err != nil {
		return err
	}
	columns, none := fields(m, cMember, slices.Clone(cWords))
	name, value := identifier(name), "x[i]"
	if l.replacements != nil {
		value = name + "_value(x, i)"
	}
	s := newSource(w, m, name, "VALUE", value)
	s.line("// %s", modelSentence(m))
	s.line("//")
	if len(l.weights) > 1 {
		s.line("//     void %s_scores(const double *x, double *scores);  sets a score for each class", name)
	} else {
		s.line("//     double %s_score(const double *x);  above %s: class %q", name, number(m.ScoreThreshold()), m.Positive.Text)
	}
	s.line("//     int %s_predict(const double *x);  index in %s_classes; -1 if a score isn't finite", name, name)
	if columns != nil {
		s.line("//     void %s_features(const struct %s_row *row, double *x);  sets x to the features of a row", name, name)
	}
	s.line("//")
	s.input(l)
	s.noRowFunction(none)
	s.line("// Don't compile it with -ffast-math, which has no NaN.")
	s.line("// Written by halfspace.\n")
	if columns != nil {
		s.line("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n")
	}
	// In C++, a constant is visible to other files only with extern.
	s.line("extern const char *const %s_classes[%d];", name, len(m.Classes))
	s.line("const char *const %s_classes[%d] = {%s};\n", name, len(m.Classes), classes(m, quoteC))
	s.line("static const double %s_weights[%d][%d] = {", name, len(l.weights), m.Width())
	s.weights("    ", l)
	s.line("};\n")
	s.line("static const double %s_bias[%d] = {%s};\n", name, len(l.bias), list(l.bias))
	if l.replacements != nil {
		s.line("static const double %s_missing[%d] = {", name, len(l.replacements))
		s.numbers("    ", l.replacements)
		s.line("};\n")
		s.line("static double %s_value(const double *x, long i)\n{", name)
		s.line("    return x[i] - x[i] == 0 ? x[i] : %s_missing[i];\n}\n", name)
	}
	if columns != nil {
		c := languageC
		c.table = "static const %[1]s " + name + "_%[2]s[%[3]d] = {%[4]s"
		s.structure(&c, columns)
		if err := s.tables(&c, columns); err != nil {
			return err
		}
		s.helpers(&c, columns)
		s.features(&c, columns)
	}
	s.functions(".c", l)
	return s.Flush()
}

var languageC = language{
	extension: ".c", tab: "    ", row: "row->", null: "NULL", minusOperator: " - ", blockEnd: "};\n",
	types:    [3]string{"long", "char *const", "double"},
	rowStart: "// A row of the data. Texts and comparisons are of bytes.\nstruct NAME_row {",
	members:  [3]string{"const char *%[1]s;", "double %[1]s[%[2]d];", "double %[1]s;"},
	functionStart: "// NAME_features sets x to the features of a row.\nvoid NAME_features(const struct NAME_row *row, double *x)\n{\n" +
		"    for (long i = 0; i < WIDTH; i++)\n        x[i] = 0;",
	functionEnd:   "}\n",
	markStatement: "x[AT] = CONDITION;",
	statements: map[string]string{
		"truth":   "x[AT] = NAME_truth(VALUE);",
		"plain":   "x[AT] = NAME_number(VALUE, '.');",
		"comma":   "x[AT] = NAME_number(VALUE, ',');",
		"days":    "x[AT] = VALUE - (ORIGIN);",
		"date":    "x[AT] = NAME_part(VALUE, PART, NAME_TABLE);",
		"list":    "for (long i = 0; i < COUNT; i++)\n        x[AT + i] = VALUE[i];",
		"learned": "NAME_one(x + AT, VALUE != NULL, NAME_bucket(VALUE, MASK, NAME_bucketsAT, COUNT));",
		"hash":    "NAME_one(x + AT, VALUE != NULL, NAME_bucket(VALUE, MASK, NULL, 0));",
		"text":    "NAME_one(x + AT, VALUE != NULL, NAME_text(VALUE, NAME_categoriesAT, COUNT));",
		"value":   "NAME_one(x + AT, VALUE - VALUE == 0, NAME_value(VALUE, NAME_categoriesAT, COUNT));",
		"words":   "NAME_words(x + AT, VALUE, FORM, MASK, BUCKETS, WEIGHTS, COUNT);",
		"number":  "x[AT] = VALUE;",
	},
	quote: func(category string) string {
		if strings.Contains(category, "\x00") {
			return "NULL" // no text in C has it
		}
		return quoteC(category)
	},
}

// quoteC returns a C string literal for the bytes of text.
func quoteC(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\' || c == '?': // ?? may begin a trigraph
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// cWords are the words that no member of a structure in C or C++ can have as its name: keywords, and macros of the headers.
var cWords = strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
	const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
	inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
	reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
	true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq errno NULL NAN linux unix
	typeof typeof_unqual math_errhandling
	i386 INFINITY HUGE_VAL HUGE_VALF HUGE_VALL MAXFLOAT DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS X_TLOSS
	M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2
	FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN
	MATH_ERRNO MATH_ERREXCEPT INTMAX_MIN INTMAX_MAX UINTMAX_MAX INTPTR_MIN INTPTR_MAX UINTPTR_MAX PTRDIFF_MIN PTRDIFF_MAX SIZE_MAX
	SIG_ATOMIC_MIN SIG_ATOMIC_MAX WCHAR_MIN WCHAR_MAX WINT_MIN WINT_MAX INT8_MIN INT8_MAX UINT8_MAX INT16_MIN INT16_MAX UINT16_MAX
	INT32_MIN INT32_MAX UINT32_MAX INT64_MIN INT64_MAX UINT64_MAX
	INT_FAST8_MIN INT_FAST8_MAX UINT_FAST8_MAX INT_FAST16_MIN INT_FAST16_MAX UINT_FAST16_MAX INT_FAST32_MIN INT_FAST32_MAX
	UINT_FAST32_MAX INT_FAST64_MIN INT_FAST64_MAX UINT_FAST64_MAX INT_LEAST8_MIN INT_LEAST8_MAX UINT_LEAST8_MAX INT_LEAST16_MIN
	INT_LEAST16_MAX UINT_LEAST16_MAX INT_LEAST32_MIN INT_LEAST32_MAX UINT_LEAST32_MAX INT_LEAST64_MIN INT_LEAST64_MAX
	UINT_LEAST64_MAX`)

// cMember returns the member of a structure for a column.
func cMember(column string) string {
	name := strings.TrimPrefix(identifier("c"+column), "c")
	if name = strings.TrimLeft(name, "_"); name == "" || name[0] <= '9' {
		name = "column_" + name
	}
	return name
}

// cMarks writes the code points of white space and of currency signs, as ranges.
func (s *source) cMarks() {
	spaces, currencies := ranges(unicode.White_Space), ranges(unicode.Sc)
	s.line("enum { %s_spaces = %d, %s_currencies = %d };\n", s.name, len(spaces), s.name, len(currencies))
	s.line("static const long %s_marks[%d][2] = {", s.name, len(spaces)+len(currencies))
	for _, r := range append(spaces, currencies...) {
		s.line("    {0x%x, 0x%x},", r[0], r[1])
	}
	s.line("};\n")
}

// ranges returns the first and the last code point of each range in a table.
func ranges(table *unicode.RangeTable) (all [][2]uint32) {
	add := func(lo, hi, stride uint32) {
		if stride == 1 {
			all = append(all, [2]uint32{lo, hi})
			return
		}
		for ; lo <= hi; lo += stride {
			all = append(all, [2]uint32{lo, lo})
		}
	}
	for _, r := range table.R16 {
		add(uint32(r.Lo), uint32(r.Hi), uint32(r.Stride))
	}
	for _, r := range table.R32 {
		add(r.Lo, r.Hi, r.Stride)
	}
	return all
}
