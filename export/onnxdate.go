package export

import (
	"encoding/binary"
	"fmt"
	"math"

	"halfspace/schema"
)

// dateNodes are the tensors that the features of a date derive from.
type dateNodes struct {
	g                    *graph
	number               int    // in the names of the tensors
	missing, days        string // days is float64, and 0 where the date is missing
	month, weekday, hour string // int64; "": not yet computed
}

// newDate adds the nodes that tell which dates of an input are missing, for input i of the model.
func (g *graph) newDate(input string, i int) *dateNodes {
	d := &dateNodes{g: g, number: i}
	d.missing = g.addMissing(input, i)
	d.days = d.node("Where", d.missing, d.addDouble(0), input)
	return d
}

func (d *dateNodes) name() string {
	d.g.tensors++
	return d.g.freeName(fmt.Sprintf("date%dstep%d", d.number, d.g.tensors))
}

// node adds a node with one output, and returns the output.
func (d *dateNodes) node(operator string, inputs ...string) string { return d.with(operator, inputs) }

func (d *dateNodes) with(operator string, inputs []string, attributes ...message) string {
	name := d.name()
	d.g.proto.message(graphNode, node("", operator, inputs, []string{name}, attributes...))
	return name
}

func (d *dateNodes) cast(x string, element int64) string {
	return d.with("Cast", []string{x}, integer("to", element))
}

// addDouble adds a float64, and integer an int64.
func (d *dateNodes) addDouble(v float64) string {
	name := d.name()
	d.g.proto.message(graphInitializer, scalar(name, elementDouble, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))))
	return name
}

func (d *dateNodes) addInteger(v int64) string {
	name := d.name()
	d.g.proto.message(graphInitializer, scalar(name, elementInt64, binary.LittleEndian.AppendUint64(nil, uint64(v))))
	return name
}

// feature adds the nodes of a feature that derives from the date, input i of the model. The feature is NaN if the date is missing.
func (d *dateNodes) feature(c *schema.Column, i int) string {
	var v string
	if c.Derive == schema.Days {
		v = d.cast(d.node("Sub", d.days, d.addDouble(c.Origin)), elementFloat)
	} else {
		d.split()
		part, numbers := datePart(c.Derive)
		table := fmt.Sprintf("parts%d", i)
		d.g.proto.message(graphInitializer, floatTensor(d.g.freeName(table), numbers, uint64(len(numbers))))
		parts := []string{monthPart: d.month, weekdayPart: d.weekday, hourPart: d.hour}
		v = d.node("Gather", d.g.freeName(table), parts[part])
	}
	nan := d.name()
	d.g.proto.message(graphInitializer,
		scalar(nan, elementFloat, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))))
	return d.node("Where", d.missing, nan, v)
}

// split adds the nodes that compute month, weekday and hour, as schema.DateParts does.
func (d *dateNodes) split() {
	if d.month != "" {
		return
	}
	op := func(operator, x string, v int64) string { return d.node(operator, x, d.addInteger(v)) }
	floor := d.node("Floor", d.days)
	part := d.node("Mul", d.node("Sub", d.days, floor), d.addDouble(24))
	hours := d.cast(d.node("Floor", d.node("Add", part, d.addDouble(1e-9))), elementInt64)
	d.hour = op("Mod", hours, 24)
	whole := d.node("Add", d.cast(floor, elementInt64), op("Div", hours, 24))
	d.weekday = op("Mod", op("Add", whole, 4), 7)
	day := op("Mod", op("Add", whole, 719468), 146097) // since a March 1st of a year that 400 divides
	years := d.node("Sub", d.node("Add", d.node("Sub", day, op("Div", day, 1460)), op("Div", day, 36524)), op("Div", day, 146096))
	year := op("Div", years, 365)
	before := d.node("Sub", d.node("Add", op("Mul", year, 365), op("Div", year, 4)), op("Div", year, 100))
	march := op("Div", op("Add", op("Mul", d.node("Sub", day, before), 5), 2), 153) // months since March
	d.month = op("Mod", op("Add", march, 2), 12)
}
