package text

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonKind is the kind of a value of a JSON object.
type jsonKind uint8

const (
	jsonPlain jsonKind = iota // a number, true, false or null
	jsonText
	jsonList
	jsonObject
)

// String returns the name of a kind that no column holds.
func (k jsonKind) String() string {
	if k == jsonList {
		return "a list"
	}
	return "an object"
}

// An objects scans lines, each of which is a JSON object or blank. It takes numbers in any form that CSV has.
type objects struct {
	text  []byte
	next  int    // the position behind the current line
	line  int64  // the number of the next line
	row   []byte // the current line
	pos   int    // in row
	first bool   // the next field is the first one of its object
	buf   []byte // the current text, with its escapes replaced
}

// object begins the next object, and returns false if there is none. The caller must have read all fields of the current object.
func (o *objects) object() (bool, error) {
	for o.next < len(o.text) {
		n := lineLength(o.text[o.next:])
		o.row, o.pos, o.first = bytes.TrimSuffix(o.text[o.next:o.next+n], []byte{'\n'}), 0, true
		o.next += n
		o.line++
		switch o.skip(); {
		case o.pos == len(o.row):
		case o.row[o.pos] == '{':
			o.pos++
			return true, nil
		case o.row[o.pos] == '[':
			return false, errors.New("the line is a list: write an object in each line, as by: jq -c '.[]'")
		default:
			return false, errors.New("the line is no JSON object: mend it")
		}
	}
	return false, nil
}

func (o *objects) skip() {
	for o.pos < len(o.row) {
		if b := o.row[o.pos]; b != ' ' && b != '\t' && b != '\r' {
			return
		}
		o.pos++
	}
}

// field goes to the key of the next field. It returns false at the end of the object.
func (o *objects) field() (bool, error) {
	o.skip()
	switch first := o.first; {
	case o.pos == len(o.row):
		return false, errors.New("the object isn't closed: mend the line")
	case o.row[o.pos] == '}':
		o.pos++
		if o.skip(); o.pos < len(o.row) {
			return false, errors.New("something stands behind the object: write each in its own line")
		}
		return false, nil
	case !first && o.row[o.pos] != ',':
		return false, errors.New("no comma stands between two fields: mend the line")
	case !first:
		o.pos++
		o.skip()
	}
	if o.first = false; o.pos == len(o.row) || o.row[o.pos] != '"' {
		return false, errors.New("a key isn't in double quotes: mend the line")
	}
	return true, nil
}

// is skips the key that has the given form, with its quotes, and the colon. Otherwise it reads nothing and returns false.
func (o *objects) is(key []byte) bool {
	end := o.pos + len(key)
	if end >= len(o.row) || o.row[end] != ':' || !bytes.Equal(o.row[o.pos:end], key) {
		return false
	}
	o.pos = end + 1
	o.skip()
	return true
}

// key reads a key and the colon. form is the key as it is written, with its quotes. Both are valid until the next call.
func (o *objects) key() (key, form []byte, err error) {
	at := o.pos
	if key, err = o.quotedText(); err != nil {
		return nil, nil, err
	}
	form = o.row[at:o.pos]
	if !utf8.Valid(key) {
		return nil, nil, fmt.Errorf("the key %s is not valid UTF-8: save it as UTF-8", quote(key))
	}
	if o.skip(); o.pos == len(o.row) || o.row[o.pos] != ':' {
		return nil, nil, fmt.Errorf("no colon stands behind the key %s: mend the line", quote(key))
	}
	o.pos++
	o.skip()
	return key, form, nil
}

// value reads a value. The text is valid until the next call. Of a list or an object, it is nil.
func (o *objects) value() (text []byte, kind jsonKind, err error) {
	if o.pos == len(o.row) {
		return nil, 0, errors.New("no value stands behind the colon: mend the line")
	}
	switch o.row[o.pos] {
	case '"':
		text, err = o.quotedText()
		return text, jsonText, err
	case '[':
		return nil, jsonList, o.nested()
	case '{':
		return nil, jsonObject, o.nested()
	}
	start := o.pos
	for o.pos < len(o.row) {
		if b := o.row[o.pos]; b == ',' || b == '}' || b == ' ' || b == '\t' || b == '\r' {
			break
		}
		o.pos++
	}
	text = o.row[start:o.pos]
	switch string(text) {
	case "null", "true", "false", "NaN", "Infinity", "-Infinity":
		return text, jsonPlain, nil
	}
	if _, err := parseNumber(text); err == errNoNumber {
		return nil, 0, fmt.Errorf("%s is no JSON value: write a number, true, false, null or a text in double quotes", quote(text))
	}
	return text, jsonPlain, nil
}

func (o *objects) quotedText() ([]byte, error) {
	rest := o.row[o.pos+1:]
	end := bytes.IndexByte(rest, '"')
	if end >= 0 && bytes.IndexByte(rest[:end], '\\') < 0 {
		o.pos += end + 2
		return rest[:end], nil
	}
	o.buf = o.buf[:0]
	for i := 0; i < len(rest); {
		switch b := rest[i]; {
		case b == '"':
			o.pos += i + 2
			return o.buf, nil
		case b != '\\':
			o.buf = append(o.buf, b)
			i++
		default:
			n, err := o.escape(rest[i:])
			if err != nil {
				return nil, err
			}
			i += n
		}
	}
	return nil, errors.New("the quotes of a text aren't closed: mend the line")
}

// escapes are the characters that stand for others behind a backslash.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends the character that the escape at the beginning of text stands for, and returns the length of the escape.
func (o *objects) escape(text []byte) (n int, err error) {
	if len(text) > 1 {
		if b, ok := escapes[text[1]]; ok {
			o.buf = append(o.buf, b)
			return 2, nil
		}
	}
	r, ok := hexEscape(text)
	if !ok {
		return 0, fmt.Errorf("%s is no escape of JSON: write \\\\ for a backslash", quote(text[:min(len(text), 6)]))
	}
	n = 6
	if utf16.IsSurrogate(r) {
		low, _ := hexEscape(text[6:])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return 0, fmt.Errorf("%s is half of a character: write both halves, or the character itself", quote(text[:6]))
		}
		n = 12
	}
	o.buf = utf8.AppendRune(o.buf, r)
	return n, nil
}

// hexEscape returns the code unit of an escape \uXXXX at the beginning of text.
func hexEscape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(v), err == nil
}

func (o *objects) nested() error {
	depth := 0
	for o.pos < len(o.row) {
		switch o.row[o.pos] {
		case '"':
			if _, err := o.quotedText(); err != nil {
				return err
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if o.pos++; depth == 0 {
			return nil
		}
	}
	return errors.New("a list or an object isn't closed: mend the line")
}

// number is scanner.number for the value of a field.
func (o *objects) number() (v float64, ok bool) {
	v, n := parseDecimal(o.row[o.pos:])
	if n == 0 || !o.ends(o.pos+n) {
		return 0, false
	}
	o.pos += n
	return v, true
}

// integer is number for integers.
func (o *objects) integer() (v int64, ok bool) {
	v, n := parseWhole(o.row[o.pos:])
	if n == 0 || !o.ends(o.pos+n) {
		return 0, false
	}
	o.pos += n
	return v, true
}

// ends returns true if a value may end at a position.
func (o *objects) ends(at int) bool {
	return at < len(o.row) && (o.row[at] == ',' || o.row[at] == '}' || o.row[at] == ' ')
}

// LooksJSON returns true if the first line of text that isn't blank is a JSON object, or is its beginning.
func LooksJSON(text []byte) bool {
	o := objects{text: text}
	if ok, err := o.object(); !ok || err != nil {
		return false
	}
	return o.skim() == nil || o.next == len(text) && text[len(text)-1] != '\n' && !o.first && len(text) > HeadBytes/2
}

// IsTable returns true if text is one JSON object in one line, or its beginning, and each of its values is a list or an object.
func IsTable(text []byte) bool {
	o := objects{text: text}
	if ok, err := o.object(); !ok || err != nil || len(bytes.TrimSpace(text[o.next:])) > 0 {
		return false
	}
	for fields := 0; ; fields++ {
		more, err := o.field()
		if err != nil || !more {
			return fields > 0
		}
		if _, _, err := o.key(); err != nil {
			return fields > 0
		}
		if _, kind, err := o.value(); kind < jsonList || err != nil {
			return kind >= jsonList
		}
	}
}

// skim reads the fields of an object.
func (o *objects) skim() error {
	for {
		more, err := o.field()
		if !more || err != nil {
			return err
		}
		if _, _, err = o.key(); err == nil {
			_, _, err = o.value()
		}
		if err != nil {
			return err
		}
	}
}
