package learner

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// Option describes one option of a learner. The option is stored in one field of the learner's options.
type Option struct {
	Name  string
	Value string   // placeholder of the value in help, such as NUMBER; options with Words need none
	Help  string   // effect of the option
	Words []string // allowed words, the default first; nil for numbers

	AllowedNumbers  string             // the allowed numbers, as an error says after "use"
	IsAllowed       func(float64) bool // tells whether a number is allowed; nil: all numbers but NaN and infinities are
	NamedNumbers    map[string]float64 // words that stand for numbers
	Float32         bool               // the value must be a float32 number
	ZeroMeansChosen bool               // 0 lets the learner choose the value
	KeepZero        func(Settings)     // tells the settings that a typed 0 isn't the default; nil: no need
	MustExist       bool               // using it with a learner that doesn't have it is an error, not a note

	Condition   *Condition // condition under which it has an effect; nil: always
	Stored      StoredIf   // condition under which the model's file has it
	Unit        string     // reports say "at most N" of this unit; "": name and value
	WithoutName bool       // reports show the value without the name

	Field func(Settings) any // pointer to the field: to an int, an int64, a float64, a bool or a string type
}

// A Condition is met if an option has one of the values, or with Except none of the values.
type Condition struct {
	Option string
	Values []string
	Except bool
}

// StoredIf says under which condition a model's file has an option.
type StoredIf int

const (
	StoredAlways    StoredIf = iota
	StoredIfChanged          // if it isn't the default, which is 0 or the first word
	StoredIfSeveral          // if it is above 1
	StoredElsewhere          // the learner adds it itself, or the model has it in another field
)

// FieldOf returns Option.Field for an option of a learner whose options have the type O.
func FieldOf[O any](field func(*O) any) func(Settings) any {
	return func(s Settings) any { return field(any(s).(*O)) }
}

// OptionError is an error of an option, not of the rows.
type OptionError = message.OptionError

// The options that several learners share.
var (
	OrderOption = Option{Name: "order",
		Help: "Order of the rows in an epoch: as in the files (cyclic), a new permutation in each epoch (shuffle), " +
			"the same permutation in all epochs (fixed-shuffle), or drawn with replacement (random).",
		Words: WordsOf(Orders), Field: sharedField("Order")}
	EpochsOption = Option{Name: "epochs", Value: "NUMBER", Help: "Most passes over the rows.", Unit: "epoch",
		AllowedNumbers: "1 or more", IsAllowed: func(v float64) bool { return v >= 1 }, Field: sharedField("Epochs")}
	MaxUpdatesOption = Option{Name: "max-updates", Value: "NUMBER",
		Help: "Most updates of the weights. 0 means no limit.", Unit: "update",
		AllowedNumbers: "1 or more, or 0 for no limit",
		IsAllowed:      func(v float64) bool { return v >= 0 }, Field: sharedField("MaxUpdates")}
	ShardsOption = Option{Name: "shards", Value: "NUMBER",
		Help: "Number of parts of the rows, each of 4,096 rows or more. In each epoch the parts learn at " +
			"the same time, on all cores. Their weights are mixed after it. The model depends on this number, and " +
			"not on the number of cores.",
		AllowedNumbers: fmt.Sprintf("1 to %d", mostShards),
		IsAllowed:      func(v float64) bool { return v >= 1 && v <= mostShards }, Stored: StoredIfSeveral,
		MustExist: true, Field: sharedField("Shards")}
	MixOption = Option{Name: "mix", Help: "Share of each of the --shards in the mix: equal (uniform), or its share " +
		"of the updates (mistakes).", Words: WordsOf(Mixes), Stored: StoredIfChanged,
		Condition: &Condition{Option: "shards", Values: []string{"1"}, Except: true}, MustExist: true, Field: sharedField("Mix")}
	L1Option = Option{Name: "l1", Value: "NUMBER",
		Help: "Penalty on the absolute values of the weights: l1 |w|_1 is added to the sum of losses. It " +
			"makes weights exactly 0. --l2 is then 0 unless given.",
		AllowedNumbers: "a penalty of 0 or more", IsAllowed: func(v float64) bool { return v >= 0 },
		Stored: StoredIfChanged, Field: sharedField("L1")}
	NonNegativeOption = Option{Name: "nonnegative", Value: "BOOL",
		Help: "Keep weights at 0 or more; the bias may be below 0.", Stored: StoredIfChanged,
		Field: sharedField("NonNegative")}
	EtaOption = Option{Name: "eta", Value: "NUMBER", Help: "Learning rate, above 0 and up to 1.",
		AllowedNumbers: "a learning rate above 0 and up to 1", Float32: true,
		IsAllowed: func(v float64) bool { return v > 0 && v <= 1 }, Field: sharedField("Eta")}
)

// sharedField returns the function that returns a pointer to the field of a learner's options.
func sharedField(name string) func(Settings) any {
	return func(s Settings) any { return reflect.ValueOf(s).Elem().FieldByName(name).Addr().Interface() }
}

// WordsOf returns the values of an option for Option.Words.
func WordsOf[S ~string](all []S) (words []string) {
	for _, w := range all {
		words = append(words, string(w))
	}
	return words
}

func (o *Option) value(s Settings) reflect.Value { return reflect.ValueOf(o.Field(s)).Elem() }

func (o *Option) isZero(s Settings) bool { return o.value(s).IsZero() }

func (o *Option) copyValue(s, from Settings) { o.value(s).Set(o.value(from)) }

// Text returns the option's value as a user types it.
func (o *Option) Text(s Settings) string {
	v := o.value(s)
	switch {
	case v.Kind() == reflect.String && v.Len() == 0 && len(o.Words) > 0:
		return o.Words[0]
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	for name, number := range o.NamedNumbers {
		if number == v.Float() {
			return name
		}
	}
	return strconv.FormatFloat(v.Float(), 'g', -1, 64)
}

// Get returns the option's value as a string, an int64, a float64 or a bool. It returns a string if the option has
// NamedNumbers.
func (o *Option) Get(s Settings) any {
	v := o.value(s)
	switch {
	case v.Kind() == reflect.String || o.NamedNumbers != nil:
		return o.Text(s)
	case v.CanInt():
		return v.Int()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	}
	return v.Float()
}

// IsStored tells whether a model's file has the option with these settings.
func (o *Option) IsStored(s Settings) bool {
	switch o.Stored {
	case StoredAlways:
		return true
	case StoredIfChanged:
		return !o.isZero(s) && !(len(o.Words) > 0 && o.Text(s) == o.Words[0])
	case StoredIfSeveral:
		return o.value(s).Int() > 1
	}
	return false
}

// IsBool tells whether the option is a bool.
func (o *Option) IsBool(s Settings) bool { return o.value(s).Kind() == reflect.Bool }

// IsInteger tells whether the option takes only whole numbers.
func (o *Option) IsInteger(s Settings) bool { return o.value(s).CanInt() }

// Set sets the option to the text that a user typed. It returns an *OptionError if the option can't have that value.
func (o *Option) Set(s Settings, text string) error {
	v := o.value(s)
	if v.Kind() == reflect.String {
		v.SetString(text)
		return o.Check(s)
	}
	if v.Kind() == reflect.Bool {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return o.valueError(strconv.Quote(text), "true or false")
		}
		v.SetBool(on)
		return nil
	}
	if number, ok := o.NamedNumbers[text]; ok {
		v.SetFloat(number)
		return nil
	}
	if o.IsInteger(s) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return o.valueError(strconv.Quote(text), "a whole number")
		}
		v.SetInt(n)
		return o.check(float64(n))
	}
	number, err := humanize.ParseNumber(text)
	if err != nil {
		return o.valueError(strconv.Quote(text), o.allowedNumbers())
	}
	v.SetFloat(number)
	if number == 0 && o.KeepZero != nil {
		o.KeepZero(s)
	}
	return o.check(number)
}

// Check returns an *OptionError unless the option's value in s is allowed. With Float32, float32 must be able to hold
// the value.
func (o *Option) Check(s Settings) error {
	v := o.value(s)
	switch {
	case v.Kind() == reflect.String && len(o.Words) > 0 && v.Len() > 0 && !slices.Contains(o.Words, v.String()):
		return o.valueError(strconv.Quote(v.String()), humanize.OneOf(o.Words))
	case v.Kind() == reflect.String || v.Kind() == reflect.Bool || o.ZeroMeansChosen && v.IsZero():
		return nil
	case v.CanInt():
		return o.check(float64(v.Int()))
	}
	number := v.Float()
	for _, named := range o.NamedNumbers {
		if named == number {
			return nil
		}
	}
	return o.check(number)
}

// check returns an *OptionError unless the number v is allowed.
func (o *Option) check(v float64) error {
	narrow := float32(v)
	held := !o.Float32 || !math.IsInf(float64(narrow), 0) && (narrow != 0 || v == 0)
	if held && !math.IsNaN(v) && !math.IsInf(v, 0) && (o.IsAllowed == nil || o.IsAllowed(v)) {
		return nil
	}
	value, want := fmt.Sprint(v), o.allowedNumbers()
	if o.NamedNumbers != nil {
		value = strconv.Quote(value)
	}
	if o.Float32 {
		want += " that a float32 can hold"
	}
	return o.valueError(value, want)
}

func (o *Option) allowedNumbers() string {
	if o.AllowedNumbers == "" {
		return "a number"
	}
	return o.AllowedNumbers
}

func (o *Option) valueError(value, want string) error {
	return &OptionError{Option: o.Name, Value: value, Want: want}
}

// InReport returns the texts of a report for the option's value in a model's file. It returns nil if value is nil, or
// if value is 0 and Stored isn't StoredAlways.
func (o *Option) InReport(value any) []string {
	if value == nil || reflect.ValueOf(value).IsZero() && o.Stored != StoredAlways {
		return nil
	}
	text := fmt.Sprint(value)
	switch v := value.(type) {
	case int64:
		if text = humanize.Count(v); o.Unit != "" {
			return []string{"at most " + humanize.Plural(v, o.Unit)}
		}
	case float64:
		text = humanize.Real(v)
	case bool:
		return []string{o.Name}
	}
	if o.WithoutName {
		return []string{text}
	}
	return []string{strings.ReplaceAll(o.Name, "-", " ") + " " + text}
}
