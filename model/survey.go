package model

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"halfspace/internal/humanize"
	"halfspace/schema"
)

// The bounds on the number of values in the text of a model. A value takes up to 16 bytes in memory, and 9 bytes in a
// file that Save wrote. perValue leaves room for a file of shorter values, and fewValues for a small file.
const (
	maxDepth   = 100
	maxObjects = 2 * schema.MaxFeatures // columns and dependent features
	maxArrays  = 8 * schema.MaxFeatures // for a column: means, centers, scales and categories
	perValue   = 6                      // least number of bytes of the text for each value
	fewValues  = 1 << 20
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
	data   []byte
	format string // value of "format"
	wrong  error  // the reason why the text is no model, even if its checksum is right
	much   bool   // the text has more values than a model, and survey stopped there

	open    []byte // the { and [ that aren't closed
	atKey   bool   // inside an object, the next string is a key
	key     string
	top     string // the key in the outermost object
	foreign int    // len(open) at a key that no model has, whose value is skipped; 0: no value is skipped
	seen    map[string]bool

	values, objects, arrays, classes int
}

// look surveys a text. It returns an error if the text ends early or continues after the object.
func look(data []byte) (*survey, error) {
	s := &survey{data: data, seen: map[string]bool{}}
	for i := 0; i < len(data) && !s.much; i++ {
		switch c := data[i]; c {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			s.value(i)
			s.open, s.atKey = append(s.open, c), c == '{'
			if len(s.open) > maxDepth {
				return s, errors.New("its lists exceeded max depth")
			}
		case '}', ']':
			if len(s.open) > 0 {
				s.open = s.open[:len(s.open)-1]
			}
			if rest := bytes.TrimSpace(data[i+1:]); len(s.open) == 0 && len(rest) > 0 {
				return s, errors.New("there is more text after top-level value")
			} else if len(s.open) == 0 {
				return s, nil
			}
		case ',':
			s.atKey = len(s.open) > 0 && s.open[len(s.open)-1] == '{'
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
	if s.much {
		return s, nil
	}
	return s, errors.New("unexpected end of the text")
}

// text notes a string whose quotes are at i and end.
func (s *survey) text(i, end int) {
	if !s.atKey {
		if len(s.open) == 1 && s.top == "format" && s.format == "" {
			s.format = string(s.data[i+1 : end])
		}
		s.value(i)
		return
	}
	s.key = strings.ToLower(humanize.Short(string(s.data[i+1:end]), 40)) // encoding/json takes keys in any case
	if len(s.open) <= s.foreign {
		s.foreign = 0
	}
	if s.foreign == 0 && !keys()[s.key] {
		s.foreign = len(s.open)
	}
	if len(s.open) == 1 {
		if s.seen[s.key] && keys()[s.key] {
			s.wrong = fmt.Errorf("%q is there twice", s.key)
		}
		s.top, s.seen[s.key] = s.key, true
	}
}

// value notes the value that begins at i.
func (s *survey) value(i int) {
	if s.wrong != nil {
		return
	}
	s.values++
	switch s.data[i] {
	case '{':
		s.objects++
	case '[':
		s.arrays++
	case 'n':
		inList := len(s.open) > 0 && s.open[len(s.open)-1] == '['
		if s.foreign == 0 && (inList || s.key != "errors" && s.key != "bias") {
			s.wrong = fmt.Errorf("%q has null in place of a value", s.key)
		}
	}
	if s.top == "classes" {
		s.classes++
	}
	if s.values > fewValues+len(s.data)/perValue || s.objects > maxObjects || s.arrays > maxArrays || s.classes > schema.MaxClasses+1 {
		s.much, s.wrong = true, fmt.Errorf("it has %d values, %d lists and %d objects or more, and a model fewer", s.values, s.arrays, s.objects)
	}
}
