package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ListClasses names up to ten classes.
func ListClasses(classes []Class) string {
	const most = 10
	var names []string
	for _, c := range classes[:min(len(classes), most)] {
		names = append(names, NameClass(c))
	}
	text := strings.Join(names, ", ")
	if len(classes) > most {
		text += fmt.Sprintf(" and %d more", len(classes)-most)
	}
	return text
}

// NameClass returns the text of a class. It quotes strings, and cuts them after 40 letters.
func NameClass(c Class) string {
	if c.Kind != String {
		return c.Text
	}
	if r := []rune(c.Text); len(r) > 40 {
		return strconv.Quote(string(r[:40])) + "..."
	}
	return strconv.Quote(c.Text)
}

// FindClass returns the index of the class that text stands for, or -1. Any spelling of a number will do.
func FindClass(classes []Class, text string) int {
	if i := slices.IndexFunc(classes, func(c Class) bool { return c.Text == text }); i >= 0 {
		return i
	}
	number, err := ParseNumber(text)
	if err != nil {
		return -1
	}
	return slices.Index(classes, number)
}

// AdviseClasses says what to do if there are too many classes.
func AdviseClasses(classes []Class) string {
	if classes[0].Kind == Number && len(classes) > 50 {
		return ": it looks like a quantity to predict, not classes; choose another column as the label"
	}
	return ": choose another column as the label, or keep the rows of two classes"
}
