package console

import (
	"cmp"
	"strconv"
	"strings"

	"halfspace/internal/message"
)

// Setting returns an option and its value as the reader types them: --l2 1 in a shell, and l2=1 in Python. isBool is
// true if the option takes true or false.
func Setting(option, value string, isBool bool) string {
	switch name := message.Option(option); {
	case ForPython && isBool:
		return name + "=" + strings.ToUpper(value[:1]) + value[1:]
	case ForPython:
		return name + "=" + Literal(value)
	case isBool:
		return strings.TrimSuffix(name+"="+value, "=true")
	default:
		return name + " " + Quote(value)
	}
}

// Settings returns options of a learner as the reader types them. options are pairs of a name with dashes and a value,
// such as "--algo svm --l2 1". In Python this is algo="svm", l2=1.
func Settings(options string) string {
	words := strings.Fields(options)
	var typed []string
	for i := 0; i+1 < len(words); i += 2 {
		typed = append(typed, Setting(strings.TrimPrefix(words[i], "--"), words[i+1], false))
	}
	return strings.Join(typed, map[bool]string{true: ", ", false: " "}[ForPython])
}

// Literal returns a value of an option in the syntax of Python: a number or a text. A file that the Python package made
// has the name of the argument that it holds, such as X.
func Literal(value string) string {
	integer, errInteger := strconv.ParseInt(value, 10, 64)
	number, err := strconv.ParseFloat(value, 64)
	switch {
	case errInteger == nil && strconv.FormatInt(integer, 10) == value,
		err == nil && Finite(number) != nil && strconv.FormatFloat(number, 'g', -1, 64) == value:
		return value
	}
	return cmp.Or(message.Files[value], strconv.Quote(value))
}
