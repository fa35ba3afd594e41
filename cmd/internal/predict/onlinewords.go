package predict

import (
	"strings"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

const wordsUsage = "`COLUMN,...` Columns of text whose words are features, or COLUMN=words:2 and the other types of train --type. " +
	"Each of 2^18 hash buckets is a feature, and words have no weights by frequency (idf), since later rows " +
	"must not tell."

// codeWords sets the options categorical and nulls for the columns of --words.
func (o *onlineOptions) codeWords(a *console.App) {
	if len(o.words) == 0 {
		return
	}
	var items, names []string
	for _, column := range o.words {
		name, typ, _ := strings.Cut(column, "=words")
		items, names = append(items, name+"=words"+typ+":all"), append(names, console.Quote(name))
	}
	o.Data.Categorical, o.Data.Nulls = flags.Line(items...), schema.NullsZero
	a.Note("words of %s: each hash bucket is a feature, without weights by frequency (idf), which need all rows; a missing text has "+
		"no words, and a missing number counts as 0",
		humanize.Columns(names))
}
