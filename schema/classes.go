package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ListClasses returns the names of up to ten classes, separated by commas, and the number of further classes.
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

// NameClass returns the text of a class. It quotes a string, and cuts it after 40 characters.
func NameClass(c Class) string {
	if c.Kind != String {
		return c.Text
	}
	if r := []rune(c.Text); len(r) > 40 {
		return strconv.Quote(string(r[:40])) + "..."
	}
	return strconv.Quote(c.Text)
}

// FindClass returns the index of the class with the given text, or -1 if there is none. A number matches in every
// spelling.
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

// AdviseClasses returns the end of an error about too many classes: the remedy.
func AdviseClasses(classes []Class) string {
	if classes[0].Kind == Number && len(classes) > 50 {
		return ": it looks like a quantity to predict, not classes; choose another column as the label"
	}
	return ": choose another column as the label, or keep the rows of two classes"
}
