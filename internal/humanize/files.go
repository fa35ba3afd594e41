package humanize

import "fmt"

// Files returns the name of a set of files in messages.
func Files(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}
