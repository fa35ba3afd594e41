package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"halfspace/internal/humanize"
	"halfspace/schema"
)

// The bounds on the number of values in the text of a model. A value takes up to 16 bytes in memory, and 9 bytes in a
// file that Save wrote. bytesPerValue leaves room for a file of shorter values, and fewValues for a small file.
const (
	maxDepth      = 100
	maxObjects    = 2 * schema.MaxFeatures // columns and dependent features
	maxArrays     = 8 * schema.MaxFeatures // for a column: means, centers, scales and categories
	bytesPerValue = 6                      // least number of bytes of the text for each value
	fewValues     = 1 << 20
)

// keys are the names of all keys that a model's file can have.
var keys = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names[name] = true
				add(f.Type)
			}
		}
	}
	add(reflect.TypeFor[Model]())
	return names
})

// A survey scans the text of a model once before it is decoded, since a short text may stand for many values.
type survey struct {
	data             []byte
	format           string // value of "format"
	fault            error  // the reason why the text is no model, even if its checksum is right
	hasTooManyValues bool   // the text has more values than a model, and survey stopped there

	openBrackets []byte // the { and [ that aren't closed
	atKey        bool   // inside an object, the next string is a key
	key          string
	topKey       string // the key in the outermost object
	foreignDepth int    // len(open) at a key that no model has, whose value is skipped; 0: no value is skipped
	seenKeys     map[string]bool

	values, objects, arrays, classes int

	texts  int // number of bytes of strings that aren't keys, with textMemory for each string
	others int // number of values of types that the file chooses, below the key "options"
}

// The bytes of memory that decoding a value takes, with the part of a list that is allocated before its values come, and the
// shorter list that it replaces.
const (
	numberMemory = 16
	textMemory   = 24 // in addition to a number, and to the bytes of the text
	listMemory   = 64
	objectMemory = 2 * int64(unsafe.Sizeof(schema.Column{})) // the largest type of which a model has many
	otherMemory  = 128                                       // of a value of any type
)

// memory returns an upper bound of the memory that the text and its values take, in bytes.
func (s *survey) memory() int64 {
	scalars := s.values - s.arrays - s.objects
	return int64(len(s.data)) + numberMemory*int64(scalars) + int64(s.texts) + listMemory*int64(s.arrays) +
		objectMemory*int64(s.objects) + otherMemory*int64(s.others)
}

// newSurvey surveys a text. It returns an error if the text ends early or continues after the object.
func newSurvey(data []byte) (*survey, error) {
	s := &survey{data: data, seenKeys: map[string]bool{}}
	for i := 0; i < len(data) && !s.hasTooManyValues; i++ {
		switch c := data[i]; c {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			s.value(i)
			s.openBrackets, s.atKey = append(s.openBrackets, c), c == '{'
			if len(s.openBrackets) > maxDepth {
				return s, errors.New("its lists exceeded max depth")
			}
		case '}', ']':
			if len(s.openBrackets) > 0 {
				s.openBrackets = s.openBrackets[:len(s.openBrackets)-1]
			}
			if rest := bytes.TrimSpace(data[i+1:]); len(s.openBrackets) == 0 && len(rest) > 0 {
				return s, errors.New("there is more text after top-level value")
			} else if len(s.openBrackets) == 0 {
				return s, nil
			}
		case ',':
			s.atKey = len(s.openBrackets) > 0 && s.openBrackets[len(s.openBrackets)-1] == '{'
		case ':':
			s.atKey = false
		case '"':
			end := i + 1
			for end < len(data) && data[end] != '"' {
				if data[end] == '\\' {
					end++
				}
				end++
			}
			s.text(i, min(end, len(data)))
			i = end
		default:
			s.value(i)
			for i+1 < len(data) && strings.IndexByte(" \t\r\n,:{}[]\"", data[i+1]) < 0 {
				i++
			}
		}
	}
	if s.hasTooManyValues {
		return s, nil
	}
	return s, errors.New("unexpected end of the text")
}

// text notes a string whose quotes are at i and end.
func (s *survey) text(i, end int) {
	if !s.atKey {
		if len(s.openBrackets) == 1 && s.topKey == "format" && s.format == "" {
			s.format = string(s.data[i+1 : end])
		}
		s.value(i)
		s.texts += end - i + textMemory
		return
	}
	written := string(s.data[i+1 : end])
	if strings.Contains(written, `\`) {
		_ = json.Unmarshal(s.data[i:min(end+1, len(s.data))], &written) // no key of a model is an invalid text
	}
	s.key = strings.ToLower(strings.ToUpper(written)) // encoding/json takes keys in any case, and ſ for s
	written = humanize.WithoutMiddle(written, 40)
	if len(s.openBrackets) <= s.foreignDepth {
		s.foreignDepth = 0
	}
	if s.foreignDepth == 0 && !keys()[s.key] {
		s.foreignDepth = len(s.openBrackets)
	}
	s.checkKey(written)
	if len(s.openBrackets) == 1 {
		if s.seenKeys[s.key] && keys()[s.key] {
			s.fault = fmt.Errorf("%q is there twice", s.key)
		}
		s.topKey, s.seenKeys[s.key] = s.key, true
	}
}

// predictionKeys are the keys of a model that determine its predictions. A later version may add keys below them, which must
// not be left out in silence.
var predictionKeys = []string{"preprocessing", "calibration", "sparse_weights", "expansion", "voters", "projection"}

// checkKey notes a key that is written in another case, at the top or below predictionKeys, and an unknown key below them.
func (s *survey) checkKey(written string) {
	top := len(s.openBrackets) == 1
	switch {
	case s.fault != nil || !top && !slices.Contains(predictionKeys, s.topKey):
	case keys()[s.key] && written != s.key:
		s.fault = fmt.Errorf("it has %q, and a model has %q", written, s.key)
	case !top && !keys()[s.key]:
		s.fault = fmt.Errorf("this version doesn't know %q, in %q: use the version of halfspace that wrote it", written, s.topKey)
	}
}

// value notes the value that begins at i.
func (s *survey) value(i int) {
	if s.fault != nil {
		return
	}
	s.values++
	if s.topKey == "options" {
		s.others++
	}
	switch s.data[i] {
	case '{':
		s.objects++
	case '[':
		s.arrays++
	case 'n':
		inList := len(s.openBrackets) > 0 && s.openBrackets[len(s.openBrackets)-1] == '['
		if s.foreignDepth == 0 && (inList || s.key != "errors" && s.key != "bias") {
			s.fault = fmt.Errorf("%q has null in place of a value", s.key)
		}
	}
	if s.topKey == "classes" {
		s.classes++
	}
	if s.values > fewValues+len(s.data)/bytesPerValue || s.objects > maxObjects || s.arrays > maxArrays || s.classes > schema.MaxClasses+1 {
		s.hasTooManyValues, s.fault = true,
			fmt.Errorf("it has %d values, %d lists and %d objects or more, and a model fewer", s.values,
				s.arrays, s.objects)
	}
}
