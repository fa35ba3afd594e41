package export

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"halfspace/internal/model"
	"halfspace/schema"
)

// WriteONNXColumns is WriteONNX with an input for each column of the data instead of X. The input has the name of the
// column. Its type is
//
//   - string [N, 1] for categories of text,
//   - float32 [N, L] for lists of L numbers,
//   - float64 [N, 1] for dates and times from which features derive: days since 1970-01-01, since float32 can't hold hours,
//   - float32 [N, 1] for other columns, where false or no is 0 and true or yes is 1, and a number that the data have as text
//     is the number.
//
// The file computes the features. For a category that isn't in the training data, all features of the column are 0;
// also for NaN in a column whose categories are numbers. Other missing numbers are treated as in WriteONNX. If a feature
// marks missing values, the missing text is "".
// WriteONNXColumns returns an error for hashed columns, crosses, svmlight columns, categories that float32 can't
// hold, and column names that an input can't have.
func WriteONNXColumns(w io.Writer, m *model.Model) error { return writeONNX(w, m, true) }

// addColumns adds an input for each column, and the nodes that compute X from these inputs.
func (g *graph) addColumns(m *model.Model) error {
	columns := m.Spec().Columns()
	g.inputs = make(map[string]bool, len(columns))
	of := map[string]*schema.Column{} // the first input of each column of the data
	for i := range columns {
		name := columns[i].Name
		switch {
		case name == "" || strings.Contains(name, "\x00"):
			return fmt.Errorf("column %q: an input can't have this name: rename the column, and train again", name)
		case name == "label" || name == outputName(m):
			return fmt.Errorf("column %q: an output of the file has this name: rename the column, and train again", name)
		}
		if g.inputs[name] = true; of[name] == nil {
			of[name] = &columns[i]
		}
	}
	features, dates, wrong := make([]string, len(columns)), map[string]*dateNodes{}, map[string]bool{}
	var faults []string
	for i := range columns {
		c := &columns[i]
		if wrong[c.Name] {
			continue
		}
		var err error
		if of[c.Name] == c {
			err = g.addInput(c)
		}
		switch {
		case err != nil:
		case c.Derive == schema.Missing:
			features[i], err = g.addMark(i, of[c.Name])
		case c.Derive.Dated():
			if dates[c.Name] == nil {
				dates[c.Name] = g.newDate(c.Name, i)
			}
			features[i] = dates[c.Name].feature(c, i)
		default:
			features[i], err = g.addColumn(i, c)
		}
		if err != nil {
			wrong[c.Name] = true
			faults = append(faults, fmt.Sprintf("column %q: %v", c.Name, err))
		}
	}
	if faults != nil {
		return errors.New(strings.Join(faults, "; "))
	}
	g.proto.message(graphNode, node("", "Concat", features, []string{g.freeName("X")}, integer("axis", 1)))
	return nil
}

// addInput adds the input of a column of the data, of which c is the first input of the model.
func (g *graph) addInput(c *schema.Column) error {
	element, width := uint64(elementFloat), 1
	switch {
	case c.Derive.Dated():
		element = elementDouble
	case c.Kind == schema.NumberColumn:
	case c.Kind == schema.ListColumn:
		width = c.Width()
	case c.Kind == schema.NumberedColumn:
		return fmt.Errorf("svmlight has numbers in place of columns: write --onnx with the model's features as its input")
	case c.Words != nil:
		return fmt.Errorf("its features are words, and ONNX can't cut texts into words: " +
			"write C or Go, or --onnx with the model's features as its input")
	case c.Kind != schema.OneHotColumn:
		return fmt.Errorf("it is hashed, and ONNX can't hash: " +
			"train with --type COLUMN=category, or write --onnx with the model's features as its input")
	case c.Values == "":
		element = elementString
	}
	g.proto.message(graphInput, value(c.Name, element, width))
	return nil
}

// addMark adds the nodes of input i, which marks the missing values of a column. It returns the tensor of its feature.
func (g *graph) addMark(i int, c *schema.Column) (string, error) {
	name := g.freeName(fmt.Sprintf("mark%d", i))
	if c.Categorical() && c.Values == "" {
		if slices.Contains(c.Categories, "") {
			return "", fmt.Errorf(`the training had both empty and missing texts, and an input has no missing text: replace "" in the data`)
		}
		empty := g.freeName(fmt.Sprintf("empty%d", i))
		// [N, 1, 1]
		g.proto.message(graphNode, node(onnxDomain, "OneHotEncoder", []string{c.Name}, []string{empty},
			texts("cats_strings", []string{""})))
		g.proto.message(graphNode, node("", "Flatten", []string{empty}, []string{name}))
		return name, nil
	}
	g.proto.message(graphNode, node("", "Cast", []string{g.addMissing(c.Name, i)}, []string{name}, integer("to", elementFloat)))
	return name, nil
}

// addMissing adds the nodes that tell which numbers of an input are NaN or infinite, for input i of the model. It returns their tensor.
func (g *graph) addMissing(input string, i int) string {
	var names []string
	for _, name := range []string{"isnan", "isinf", "ismissing"} {
		names = append(names, g.freeName(fmt.Sprintf("%s%d", name, i)))
	}
	g.proto.message(graphNode, node("", "IsNaN", []string{input}, names[:1]))
	g.proto.message(graphNode, node("", "IsInf", []string{input}, names[1:2]))
	g.proto.message(graphNode, node("", "Or", names[:2], names[2:]))
	return names[2]
}

// addColumn adds the nodes of input i. It returns the tensor of the column's features, float32 [N, c.Width()].
func (g *graph) addColumn(i int, c *schema.Column) (string, error) {
	matches, features := g.freeName(fmt.Sprintf("matches%d", i)), g.freeName(fmt.Sprintf("features%d", i))
	switch {
	case c.Kind == schema.NumberColumn || c.Kind == schema.ListColumn:
		return c.Name, nil
	case c.Values == "":
		// [N, 1, K]
		g.proto.message(graphNode, node(onnxDomain, "OneHotEncoder", []string{c.Name}, []string{matches},
			texts("cats_strings", c.Categories)))
		g.proto.message(graphNode, node("", "Flatten", []string{matches}, []string{features}))
		return features, nil
	}
	numbers, err := categoryNumbers(c)
	if err != nil {
		return "", err
	}
	categories := fmt.Sprintf("categories%d", i)
	g.constant(categories, numbers)
	g.proto.message(graphNode, node("", "Equal", []string{c.Name, g.freeName(categories)}, []string{matches}))
	g.proto.message(graphNode, node("", "Cast", []string{matches}, []string{features}, integer("to", elementFloat)))
	return features, nil
}

// categoryNumbers returns the categories of a column of numbers or booleans. It returns an error if two categories
// are equal in float32, or if float32 can't hold a whole number, because another category could become equal to it.
func categoryNumbers(c *schema.Column) ([]float64, error) {
	numbers, err := categoryValues(c)
	if err != nil {
		return nil, err
	}
	before := make(map[float32]string, len(numbers))
	for k, text := range c.Categories {
		v := numbers[k]
		narrow := float32(v)
		if other, same := before[narrow]; same {
			return nil, fmt.Errorf("float32, which the input has, can't tell the categories %s and %s: make them "+
				"text in the data", other, text)
		}
		if v == math.Trunc(v) && float64(narrow) != v {
			return nil, fmt.Errorf("float32, which the input has, can't hold the category %s: make the categories text in the data", text)
		}
		before[narrow] = text
	}
	return numbers, nil
}
