package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestPrepareNewcomer: a table with every kind of column becomes features, and the notes say how.
func TestPrepareNewcomer(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,age,sex,price,when,name,const,empty,smoker,city,y\n")
	for i := range 400 {
		age := fmt.Sprint(20 + i*7%50)
		if i%20 == 3 {
			age = ""
		}
		sex := []string{"male", "female", ""}[i%3]
		label := []string{"a", "b"}[i*i%7%2]
		if i == 17 {
			label = ""
		}
		fmt.Fprintf(&text, "%d,%s,%s,\"$1,%03d.50\",2024-%02d-%02d,person %d,1,,%s,city%d,%s\n", i, age, sex, i%1000, 1+i%12, 1+i%28, i, []string{"yes", "no"}[i%2], i%90, label)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	var notes []string
	data, err := Load(context.Background(), path, Options{Label: "y", Prepare: true, Warn: func(s string) { notes = append(notes, s) }})
	require.NoError(t, err)
	t.Log(strings.Join(notes, "\n"))
	t.Log(data.Rows(), data.Spec().Features)
}
