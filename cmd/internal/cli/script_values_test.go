package cli

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// at returns what stands at a path such as points.0.errors of a JSON file or of stdout, nil for nothing. len is the length of a list,
// keys are the keys of an object, and /N divides a number.
func at(ts *testscript.TestScript, file, path string) (value any) {
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &value))
	if path == "" {
		return value
	}
	path, divisor, divided := strings.Cut(path, "/")
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			if value = v[key]; key == "keys" {
				value = strings.Join(slices.Sorted(maps.Keys(v)), " ")
			}
		case []any:
			i, err := strconv.Atoi(key)
			if key == "len" {
				return float64(len(v))
			}
			if value = nil; err == nil && i < len(v) {
				value = v[i]
			}
		default:
			value = nil
		}
	}
	if n, err := strconv.ParseFloat(divisor, 64); divided && err == nil {
		return value.(float64) / n
	}
	return value
}

// show writes a value as a script does: a text without quotes, other values as compact JSON.
func show(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// json [FILE] PATH VALUE compares a value of stdout, or of a file. VALUE is JSON, a text, or a number behind <, <=, >, >=, != or ~, which
// allows a relative difference of 1e-6.
func scriptJSON(ts *testscript.TestScript, _ bool, args []string) {
	file := "stdout"
	if len(args) == 3 {
		file, args = args[0], args[1:]
	}
	value, want := at(ts, file, args[0]), args[1]
	number := strings.TrimLeft(want, "<>=!~")
	sign := want[:len(want)-len(number)]
	got, isNumber := value.(float64)
	limit, err := strconv.ParseFloat(number, 64)
	ok := isNumber && err == nil
	switch sign {
	case "":
		ok = show(value) == want
	case "!=":
		ok = show(value) != number
	case "<":
		ok = ok && got < limit
	case "<=":
		ok = ok && got <= limit
	case ">":
		ok = ok && got > limit
	case ">=":
		ok = ok && got >= limit
	case "~":
		ok = ok && got-limit <= 1e-6*max(got, -got) && limit-got <= 1e-6*max(got, -got)
	}
	if !ok {
		ts.Fatalf("%s is %.4000s, want %s", args[0], show(value), want)
	}
}

// keep NAME PATH [FILE] puts a value of stdout, or of a file, into the variable NAME.
func scriptKeep(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], show(at(ts, append(args, "stdout")[2], args[1])))
}

// report FILE [PATH] [-KEY...] writes the JSON of stdout, or what stands at a path of it, to a file, without some keys.
func scriptReport(ts *testscript.TestScript, _ bool, args []string) {
	path := ""
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		path = args[1]
	}
	value := at(ts, "stdout", path)
	for _, key := range args[1:] {
		if object, ok := value.(map[string]any); ok {
			delete(object, strings.TrimPrefix(key, "-"))
		}
	}
	text, err := json.MarshalIndent(value, "", " ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(text, '\n'), 0o600))
}

// edit FILE OLD NEW replaces the first OLD of a file, or the regular expression OLD behind "!" everywhere.
func scriptEdit(ts *testscript.TestScript, neg bool, args []string) {
	text := ts.ReadFile(args[0])
	edited := strings.Replace(text, unescape(args[1]), unescape(args[2]), 1)
	if neg {
		edited = regexp.MustCompile(args[1]).ReplaceAllString(text, unescape(args[2]))
	}
	if edited == text {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(edited), 0o600))
}
