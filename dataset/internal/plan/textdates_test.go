package plan

import (
	"strings"
	"testing"

	"halfspace/schema"
)

// TestTextDates: texts tell the order of day, month and year, and notes tell what other dates they could be.
func TestTextDates(t *testing.T) {
	short := "years of two digits are 1969 to 2068"
	for _, c := range []struct{ texts, layout, notes string }{
		{"2014-06-16|2014-07-01 12:00", "", ""},
		{"6/16/2014|1/2/2014", "1/2/2006", ""}, {"16/6/2014|1/2/2014", "2/1/2006", ""},
		{"02/11/2011|03/02/2011", "1/2/2006",
			`"02/11/2011" is read as 2011-02-11; if it is 2011-11-02, use Types x=date:DMY`},
		{"1/1/2011|02/11/2011", "1/2/2006", `"02/11/2011" is read as 2011-02-11; if it is 2011-11-02, use Types x=date:DMY`},
		{"1/1/2011|02/02/2011", "1/2/2006", ""},
		{"02-11-2011|03-02-2011", "2-1-2006",
			`"02-11-2011" is read as 2011-11-02; if it is 2011-02-11, use Types x=date:MDY`},
		{"02.11.2011|03.02.2011", "2.1.2006", ""},
		{"6/16/14|1/2/99", "1/2/06", short}, {"16/6/14|1/2/99", "2/1/06", short},
		{"14/6/16|99/12/31", "06/1/2", short},
		{"10/11/12|10/11/12 9:00", "1/2/06",
			`"10/11/12" is read as 2012-10-11; if it is 2012-11-10, use Types x=date:DMY; ` +
				`if it is 2010-11-12, use Types x=date:YMD|` + short},
		{"16.06.14|01.02.99", "02.01.06", short},
		{"02-11-11|03-02-11", "02-01-06",
			`"02-11-11" is read as 2011-11-02; if it is 2011-02-11, use Types x=date:MDY; ` +
				`if it is 2002-11-11, use Types x=date:YMD|` + short},
		{"01-Jan-15|31-Dec-69", "2-Jan-06", short}, {"01-Jan-2015|31-Dec-1969", "2-Jan-2006", ""},
		{"Mon, 16 Jun 2014 12:00:00 EST|Mon, 16 Jun 2014 12:00:00 -0700", "Mon, 2 Jan 2006 15:04:05 MST", ""},
	} {
		texts := strings.Split(c.texts, "|")
		col := textColumn(20, texts...)
		if got := treatmentOf(col); got != &textDates {
			t.Errorf("%q are no dates", texts)
			continue
		}
		inputs := textDates.inputs(col)
		if got := inputs[0].Layout; got != c.layout {
			t.Errorf("%q: the layout is %q, want %q", texts, got, c.layout)
		}
		if got := strings.Join(textDates.notes(col), "|"); got != c.notes {
			t.Errorf("%q: notes %q, want %q", texts, got, c.notes)
		}
	}
	for _, texts := range []string{"Mon, 16 Jun 2014 12:00:00 CET|x", "1.2.10|1.3.11", "10-5-03|11-5-00",
		"31/31/14|1/1/14"} {
		if got := treatmentOf(textColumn(20, strings.Split(texts, "|")...)); got == &textDates {
			t.Errorf("%q are dates", texts)
		}
	}
}

// TestDateWords: the words date:DMY, date:MDY and date:YMD say what the order of day, month and year is.
func TestDateWords(t *testing.T) {
	for _, c := range []struct {
		texts  string
		word   Word
		layout string
	}{
		{"02/11/2011|03/02/2011", DateDMY, "2/1/2006"}, {"02/11/2011|03/02/2011", DateMDY, "1/2/2006"},
		{"02-11-2011|03-02-2011", DateMDY, "1-2-2006"}, {"10/11/12|10/11/12", DateYMD, "06/1/2"},
		{"10-11-12|10-11-12", DateDMY, "02-01-06"},
		{"20140616|20130701", DateYMD, "20060102"}, {"20140616|20130701", Date, "20060102"},
		{"2014-06-16|2014-06-17", DateYMD, ""},
		{"Jun 16, 2014|Jun 17, 2014", DateDMY, "Jan 2, 2006"}, {"6/16/14|02/11/11|03/02/11", DateDMY, "2/1/06"},
	} {
		col := textColumn(30, strings.Split(c.texts, "|")...)
		if col.Word = c.word; treatmentOf(col) != &textDates {
			t.Errorf("%s of the type %s are no dates", c.texts, c.word)
			continue
		}
		if got := textDates.inputs(col)[0].Layout; got != c.layout {
			t.Errorf("%s of the type %s: the layout is %q, want %q", c.texts, c.word, got, c.layout)
		}
		if got := strings.Join(textDates.notes(col), ""); strings.Contains(got, "Types") {
			t.Errorf("%s of the type %s: notes %q", c.texts, c.word, got)
		}
	}
	for texts, word := range map[string]Word{"6/16/2014|6/17/2014": DateDMY, "2014-06-16|2014-06-17": DateMDY,
		"16.06.2014|17.06.2014": DateYMD} {
		col := textColumn(30, strings.Split(texts, "|")...)
		if col.Word = word; treatmentOf(col) != nil {
			t.Errorf("%s of the type %s are dates", texts, word)
		}
	}
	dated := &Counts{Input: &schema.Column{Name: "x", Kind: schema.NumberColumn}, HasDates: true, Word: DateDMY, Rows: 2,
		Range: newRange()}
	dated.Range.Add(3)
	if treatmentOf(dated) != &dates {
		t.Error("dates of the type date:DMY are no dates")
	}
}
