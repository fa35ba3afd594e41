package export

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"halfspace/internal/model"
	"halfspace/schema"
)

// The versions of ONNX that a file states.
const (
	onnxIR     = 8
	onnxOpset  = 16 // of ai.onnx
	onnxML     = 3  // of ai.onnx.ml
	onnxDomain = "ai.onnx.ml"
)

// mostONNX is the largest number of weights in a file. They take 256 MiB; a reader of protocol buffers accepts 2 GiB.
const mostONNX = 1 << 26

// Field numbers of onnx.proto. The field numbers of AttributeProto are used by its writers below.
const (
	modelIR, modelProducer, modelGraph, modelOpset, modelMetadata                         = 1, 2, 7, 8, 14
	graphNode, graphName, graphInitializer, graphInput, graphOutput                       = 1, 2, 5, 11, 12
	nodeInput, nodeOutput, nodeName, nodeType, nodeAttribute, nodeDomain                  = 1, 2, 3, 4, 5, 7
	tensorDims, tensorType, tensorName, tensorRaw                                         = 1, 2, 8, 9
	valueName, valueType                                                                  = 1, 2
	elementFloat, elementInt64, elementString, elementDouble                              = 1, 7, 8, 11
	attributeName, attributeInt, attributeText, attributeFloats                           = 1, 3, 4, 7
	attributeInts, attributeTexts, attributeType                                          = 8, 9, 20
	tensorTexts                                                                           = 6
	attributeIsInt, attributeIsText, attributeIsFloats, attributeIsInts, attributeIsTexts = 2, 3, 6, 7, 8
)

// WriteONNX writes the model as an ONNX file: IR version 8, opset 16, ai.onnx.ml 3.
//
// The input X is float32 [N, D]. The file has two outputs:
//
//   - "label" is the class of each row: int64 if all classes are 64-bit integers, otherwise text.
//   - "probabilities", float32 [N, C], is the probability of each class. A model without probabilities, or with isotonic
//     probabilities, has "scores" instead.
//
// For two classes, the first column is the class that isn't positive, and its score is -1 times the score of the
// positive class. The label depends on the threshold of the model. The metadata has the names of features and
// classes. WriteONNX returns the same errors as WriteC, and an error if float32 can't hold a weight.
func WriteONNX(w io.Writer, m *model.Model) error { return writeONNX(w, m, false) }

// writeONNX is WriteONNX if byColumn is false, and WriteONNXColumns if it is true.
func writeONNX(w io.Writer, m *model.Model, byColumn bool) error {
	l, err := newLinear(m)
	if err != nil {
		return err
	}
	if n := int64(m.Width()) * int64(max(2, len(l.weights))); n > mostONNX {
		return fmt.Errorf("%d weights, and an ONNX file has at most %d: train on fewer features or classes", n, mostONNX)
	}
	order := make([]schema.Class, 0, len(m.Classes))
	if other, positive := sides(m); len(l.weights) == 1 {
		order = append(order, m.Classes[other], m.Classes[positive]) // two equal scores, which are 0, are for the first class
	} else {
		order = append(order, m.Classes...)
	}
	coefficients, intercepts, err := l.classifier(m)
	if err != nil {
		return err
	}
	platt, err := newPlattNodes(m)
	if err != nil {
		return err
	}
	var g graph
	if byColumn {
		if err := g.addColumns(m); err != nil {
			return err
		}
	}
	g.add(m, l, platt, order, coefficients, intercepts)
	var file message
	file.number(modelIR, onnxIR)
	file.text(modelProducer, "halfspace")
	file.message(modelGraph, g.proto)
	for _, set := range []struct {
		domain  string
		version uint64
	}{{"", onnxOpset}, {onnxDomain, onnxML}} {
		var opset message
		opset.text(1, set.domain)
		opset.number(2, set.version)
		file.message(modelOpset, opset)
	}
	file.metadata("features", m.Width(), m.FeatureName)
	file.metadata("classes", len(order), func(k int) string { return order[k].Text })
	_, err = w.Write(file)
	return err
}

// classifier returns the coefficients and intercepts of a LinearClassifier. For two classes, it returns coefficients
// for both classes; they are halved if there are probabilities, because softmax(-s/2, s/2) is 1/(1 + e^s), 1/(1 +
// e^-s). The input of the LinearClassifier is x - c, where c is l.center in float32: w.x + b equals w.(x - c) + (b +
// w.c), which avoids large terms that cancel.
func (l *linearScores) classifier(m *model.Model) (coefficients, intercepts []float32, err error) {
	add := func(sign float64, k int) {
		for _, v := range l.weights[k] {
			coefficients = append(coefficients, float32(sign*v))
		}
		intercept := l.bias[k]
		for i, c := range l.center {
			intercept += float64(float64(float32(c)) * l.weights[k][i])
		}
		intercepts = append(intercepts, float32(sign*intercept))
	}
	switch {
	case len(l.weights) > 1:
		for k := range l.weights {
			add(1, k)
		}
	case m.LogOdds():
		add(-0.5, 0)
		add(0.5, 0)
	default:
		add(-1, 0)
		add(1, 0)
	}
	for i, v := range coefficients {
		if v-v != 0 {
			return nil, nil, fmt.Errorf("feature %q: its weight is too large for float32, which ONNX computes in: "+
				"scale the column", m.FeatureName(i%m.Width()))
		}
	}
	for _, v := range intercepts {
		if v-v != 0 {
			return nil, nil, errors.New("the bias is too large for float32, which ONNX computes in: scale the columns")
		}
	}
	return coefficients, intercepts, nil
}

// A graph is a GraphProto.
type graph struct {
	proto   message
	inputs  map[string]bool // names of the inputs that are columns of the data; nil: X is the input
	tensors int             // number of tensors that dateNodes named
}

// freeName returns the name of a tensor that isn't an input: the given name, with underscores appended as long as an
// input has that name. No two given names differ only in underscores at their ends.
func (g *graph) freeName(name string) string {
	for g.inputs[name] {
		name += "_"
	}
	return name
}

// node adds a node between tensors inside the graph.
func (g *graph) node(domain, operator string, inputs, outputs []string, attributes ...message) {
	for _, names := range [][]string{inputs, outputs} {
		for i, name := range names {
			names[i] = g.freeName(name)
		}
	}
	g.proto.message(graphNode, node(domain, operator, inputs, outputs, attributes...))
}

// constant adds a row of float32 numbers for the nodes.
func (g *graph) constant(name string, numbers []float64) {
	g.proto.message(graphInitializer, floatTensor(g.freeName(name), numbers, 1, uint64(len(numbers))))
}

// add adds the nodes that compute the outputs from X, and the outputs. It adds X as an input unless the columns are
// inputs.
func (g *graph) add(m *model.Model, l *linearScores, platt *plattNodes, order []schema.Class, coefficients, intercepts []float32) {
	x, output := "X", outputName(m)
	if l.replacements != nil { // replace NaN and infinities
		g.node("", "IsNaN", []string{x}, []string{"nan"})
		g.node("", "IsInf", []string{x}, []string{"infinite"})
		g.node("", "Or", []string{"nan", "infinite"}, []string{"missing"})
		g.node("", "Where", []string{"missing", "means", x}, []string{"filled"})
		x = "filled"
	}
	if l.center != nil {
		g.node("", "Sub", []string{x, "centers"}, []string{"centered"})
		x = "centered"
	}
	transform, scores := "NONE", "scores"
	apart := len(order) > 2 && (m.Options.Multiclass != model.Joint || platt != nil) // each class has log odds of its own
	if output != scores && platt == nil && !apart {
		scores, transform = output, "SOFTMAX"
	}
	labels, whole := wholeNumbers(order)
	element, attribute := uint64(elementInt64), ints("classlabels_ints", labels)
	if !whole {
		element, attribute = elementString, texts("classlabels_strings", classTexts(order))
	}
	label := "label"
	if m.Threshold != nil { // the nodes of addThreshold compare the scores
		label, scores, transform = "side", "scores", "NONE"
	}
	g.node(onnxDomain, "LinearClassifier", []string{x}, []string{label, scores}, attribute, floats("coefficients", coefficients),
		floats("intercepts", intercepts), integer("multi_class", 1), word("post_transform", transform))
	if m.Threshold != nil {
		g.addThreshold(m, labels, order)
	}
	if platt != nil {
		g.node("", "Mul", []string{scores, "slopes"}, []string{"scaled"})
		g.node("", "Add", []string{"scaled", "offsets"}, []string{"odds"})
		scores = "odds"
	}
	switch {
	case apart && output != scores: // sigmoid(s) divided by its sum is softmax(log sigmoid(s)); log sigmoid(s) is -softplus(-s)
		g.node("", "Neg", []string{scores}, []string{"negated"})
		g.node("", "Softplus", []string{"negated"}, []string{"losses"})
		g.node("", "Neg", []string{"losses"}, []string{"logs"})
		g.node("", "Softmax", []string{"logs"}, []string{output})
	case output != scores:
		g.node("", "Softmax", []string{scores}, []string{output})
	}
	g.proto.text(graphName, "halfspace")
	g.addConstants(l, platt)
	if g.inputs == nil {
		g.proto.message(graphInput, value("X", elementFloat, m.Width()))
	}
	g.proto.message(graphOutput, value("label", element, 0))
	g.proto.message(graphOutput, value(output, elementFloat, len(order)))
}

// addConstants adds the rows of numbers for the nodes that add adds.
func (g *graph) addConstants(l *linearScores, platt *plattNodes) {
	if l.replacements != nil {
		g.constant("means", l.replacements)
	}
	if l.center != nil {
		g.constant("centers", l.center)
	}
	if platt != nil {
		g.constant("slopes", platt.slopes)
		g.constant("offsets", platt.offsets)
	}
}

func outputName(m *model.Model) string {
	if c := m.Calibration; m.LogOdds() || c != nil && c.Method == model.Platt {
		return "probabilities"
	}
	return "scores"
}

// wholeNumbers returns the classes as 64-bit integers. The result is false if a class is none.
func wholeNumbers(classes []schema.Class) ([]int64, bool) {
	all := make([]int64, len(classes))
	for k, c := range classes {
		v, err := strconv.ParseInt(c.Text, 10, 64)
		if all[k] = v; err != nil || c.Kind != schema.Number {
			return nil, false
		}
	}
	return all, true
}

func classTexts(classes []schema.Class) []string {
	return textsOf(classes, func(c schema.Class) string { return c.Text })
}

// A message is the bytes of a protocol buffer message.
type message []byte

func (b *message) number(field protowire.Number, v uint64) {
	*b = protowire.AppendVarint(protowire.AppendTag(*b, field, protowire.VarintType), v)
}

func (b *message) text(field protowire.Number, s string) {
	*b = protowire.AppendString(protowire.AppendTag(*b, field, protowire.BytesType), s)
}

func (b *message) message(field protowire.Number, v []byte) {
	*b = protowire.AppendBytes(protowire.AppendTag(*b, field, protowire.BytesType), v)
}

// metadata adds a property whose value is a JSON array of n texts.
func (b *message) metadata(key string, n int, text func(int) string) {
	list := make([]string, n)
	for i := range list {
		list[i] = text(i)
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic("export: " + err.Error()) // encoding texts can't fail
	}
	var entry message
	entry.text(1, key)
	entry.text(2, string(data))
	b.message(modelMetadata, entry)
}

// node returns a NodeProto. Its name is the name of its first output.
func node(domain, operator string, inputs, outputs []string, attributes ...message) message {
	var n message
	for _, name := range inputs {
		n.text(nodeInput, name)
	}
	for _, name := range outputs {
		n.text(nodeOutput, name)
	}
	n.text(nodeName, outputs[0])
	n.text(nodeType, operator)
	for _, a := range attributes {
		n.message(nodeAttribute, a)
	}
	n.text(nodeDomain, domain)
	return n
}

// value returns the ValueInfoProto of a tensor [N, columns], or [N] if columns is 0.
func value(name string, element uint64, columns int) message {
	var rows, width, shape, tensor, of, v message
	rows.text(2, "N")
	shape.message(1, rows)
	if columns > 0 {
		width.number(1, uint64(columns))
		shape.message(1, width)
	}
	tensor.number(1, element)
	tensor.message(2, shape)
	of.message(1, tensor)
	v.text(valueName, name)
	v.message(valueType, of)
	return v
}

// floatTensor returns the TensorProto of float32 numbers.
func floatTensor(name string, numbers []float64, dims ...uint64) message {
	var t message
	var raw []byte
	for _, v := range numbers {
		raw = protowire.AppendFixed32(raw, math.Float32bits(float32(v)))
	}
	for _, n := range dims {
		t.number(tensorDims, n)
	}
	t.number(tensorType, elementFloat)
	t.text(tensorName, name)
	t.message(tensorRaw, raw)
	return t
}

// attribute returns the first fields of an AttributeProto.
func attribute(name string, kind uint64) (a message) {
	a.text(attributeName, name)
	a.number(attributeType, kind)
	return a
}

func integer(name string, v int64) message {
	a := attribute(name, attributeIsInt)
	a.number(attributeInt, uint64(v))
	return a
}

func word(name, text string) message {
	a := attribute(name, attributeIsText)
	a.text(attributeText, text)
	return a
}

func ints(name string, numbers []int64) message {
	a := attribute(name, attributeIsInts)
	for _, v := range numbers {
		a.number(attributeInts, uint64(v))
	}
	return a
}

func texts(name string, list []string) message {
	a := attribute(name, attributeIsTexts)
	for _, text := range list {
		a.text(attributeTexts, text)
	}
	return a
}

// floats returns an attribute of numbers, packed with one tag for all.
func floats(name string, numbers []float32) message {
	a := attribute(name, attributeIsFloats)
	packed := make([]byte, 0, 4*len(numbers))
	for _, v := range numbers {
		packed = protowire.AppendFixed32(packed, math.Float32bits(v))
	}
	a.message(attributeFloats, packed)
	return a
}

// addThreshold adds the nodes that compute the label from the scores of two classes: the class order[1] if the score
// in its column is above the threshold of the model, otherwise the class order[0]. labels are the classes as numbers;
// nil: the classes are texts. The threshold in the file is the greatest float32 that isn't above the threshold of the
// model: a float32 score is above one exactly if it is above the other.
func (g *graph) addThreshold(m *model.Model, labels []int64, order []schema.Class) {
	at := *m.Threshold
	if m.LogOdds() { // the column has half of the score
		at /= 2
	}
	g.node("", "Gather", []string{"scores", "column"}, []string{"positive"}, integer("axis", 1))
	g.node("", "Greater", []string{"positive", "threshold"}, []string{"above"})
	g.node("", "Where", []string{"above", "class1", "class0"}, []string{"label"})
	g.proto.message(graphInitializer, scalar(g.freeName("column"), elementInt64, binary.LittleEndian.AppendUint64(nil, 1)))
	g.proto.message(graphInitializer,
		scalar(g.freeName("threshold"), elementFloat,
			binary.LittleEndian.AppendUint32(nil, math.Float32bits(roundDown(at)))))
	for i, name := range []string{"class0", "class1"} {
		var t message
		if labels != nil {
			t = scalar(g.freeName(name), elementInt64, binary.LittleEndian.AppendUint64(nil, uint64(labels[i])))
		} else {
			t = scalar(g.freeName(name), elementString, nil)
			t.text(tensorTexts, order[i].Text)
		}
		g.proto.message(graphInitializer, t)
	}
}

// roundDown returns the greatest finite float32 that isn't above v. If there is none, it returns the smallest finite
// float32.
func roundDown(v float64) float32 {
	f := float32(max(-math.MaxFloat32, min(math.MaxFloat32, v)))
	if float64(f) > v && f > -math.MaxFloat32 {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// scalar returns the TensorProto of one value without dimensions. raw has the bytes of its number; nil: it has no
// number.
func scalar(name string, element uint64, raw []byte) message {
	var t message
	t.number(tensorType, element)
	t.text(tensorName, name)
	if raw != nil {
		t.message(tensorRaw, raw)
	}
	return t
}
