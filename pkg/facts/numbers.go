package facts

import (
	"strings"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// units are the words after a number that make it a measure, a date or a time.
const units = " % percent ms s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week weeks month months year years " +
	"am pm a.m. p.m. b kb mb gb tb kib mib gib bytes byte bit bits tokens token px rem mm cm m km mi miles kg g mg lb lbs oz ml l kw kwh mw w v hz khz mhz ghz " +
	"usd eur gbp chf jpy cny inr rub brl dollar dollars euro euros cents k bps kbps mbps gbps rps qps °c °f ° € £ ¥ ₹ ₽ " +
	"uhr euro stunde stunden tag tage woche wochen monat monate jahr jahre minuten sekunde sekunden prozent jour jours heure heures semaine semaines mois an ans " +
	"día días hora horas semana semanas mes meses año años dia dias mês ano anos giorno giorni ora ore settimana mese mesi anno anni minuti " +
	"руб рубля рублей сек мин ч час часа часов день дня дней мс кб мб гб "

// counters are one-character units written directly after a number.
const counters = "元円圆圓块塊万萬亿億天日月年时時点點分秒个個件度米克升％页頁歳岁人名次回원개명일월년시분초"

const months = " jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december "

const currencies = "$€£¥₹"

// number takes a number with its unit, a date or a time of day.
func (w *mentionScanner) number(start, end int) int {
	word := w.text[start:end]
	if isLetter(word[0]) {
		return w.monthDay(start, end)
	}
	sign := currency(word)
	if len(word) == sign || !isDigit(word[sign]) {
		return 0
	}
	if stop := w.clockEnd(start, end); stop > end {
		w.found(conversation.FactNumber, w.text[start:stop])
		return stop
	}
	end = w.numberEnd(start, end)
	word = strings.TrimRight(w.text[start:end], ".-+/")
	stop := start + len(word)
	if stop-start > maxNumber {
		return 0
	}
	unit := w.unitEnd(stop)
	if unit == stop && len(word) <= 2 {
		unit = w.monthEnd(stop)
	}
	if unit == stop && sign == 0 && !isDate(word) && !hasUnit(word) {
		return 0
	}
	w.found(conversation.FactNumber, w.text[start:unit])
	return max(unit, end)
}

// maxNumber is the length of the longest number, in bytes; anything longer is an id.
const maxNumber = 32

// currency returns the length of the currency sign at the start of a word.
func currency(word string) int {
	r, size := utf8.DecodeRuneInString(word)
	if strings.ContainsRune(currencies, r) {
		return size
	}
	return 0
}

// numberEnd returns the end of a number that may contain commas.
func (w *mentionScanner) numberEnd(start, end int) int {
	for isDigit(w.text[end-1]) && end-start < maxNumber && len(w.text) > end+1 && w.text[end] == ',' && isDigit(w.text[end+1]) {
		end += 2
		for end < len(w.text) && end-start < maxNumber && (isDigit(w.text[end]) || w.text[end] == '.' || w.text[end] == '%') {
			end++
		}
	}
	return end
}

// clockEnd returns the end of a time of day, given the word with its hour and possibly its date; 0 if there is none.
func (w *mentionScanner) clockEnd(start, end int) int {
	word := w.text[start:end]
	hour := word[strings.LastIndexByte(word, 'T')+1:]
	if len(hour) > 2 || hour != word && !isDate(word[:len(word)-len(hour)-1]) {
		return 0
	}
	stop := end
	for stop+2 < len(w.text) && stop-start < maxNumber && w.text[stop] == ':' && isDigit(w.text[stop+1]) && isDigit(w.text[stop+2]) {
		stop += 3
	}
	if stop == end {
		return 0
	}
	if stop < len(w.text) && w.text[stop] == 'Z' {
		return stop + 1
	}
	return w.unitEnd(stop)
}

// unitEnd returns the end of the unit after a position, or the position.
func (w *mentionScanner) unitEnd(at int) int {
	if r, size := utf8.DecodeRuneInString(w.text[at:]); size > 1 && strings.ContainsRune(counters, r) {
		return at + size
	}
	stop := at
	if stop < len(w.text) && w.text[stop] == ' ' {
		stop++
	}
	from := stop
	for n := wordSize(w.text[stop:]); n > 0 && stop-from < 16; n = wordSize(w.text[stop:]) {
		stop += n
	}
	if word := strings.TrimRight(w.text[from:stop], "."); isUnit(word) {
		return from + len(word)
	}
	return at
}

// monthEnd returns the end of the month name after a day, and of the year after it, or the position.
func (w *mentionScanner) monthEnd(at int) int {
	end := at + 1
	for end < len(w.text) && isLetter(w.text[end]) && end-at < 12 {
		end++
	}
	if end > len(w.text) || w.text[at] != ' ' || !isMonth(w.text[at+1:end]) {
		return at
	}
	return w.digitsEnd(end, " ", 4)
}

func isMonth(word string) bool {
	return word != "" && strings.Contains(months, " "+strings.ToLower(word)+" ")
}

func isUnit(word string) bool {
	return word != "" && strings.Contains(units, " "+strings.ToLower(word)+" ")
}

// hasUnit reports whether a number contains its unit.
func hasUnit(word string) bool {
	at := 0
	for at < len(word) && (isDigit(word[at]) || word[at] == '.' || word[at] == ',') {
		at++
	}
	return isUnit(word[at:])
}

// isDate reports whether a word is a numeric date: a year and two parts of two digits, in any order.
func isDate(word string) bool {
	for _, separator := range []string{"-", "/", "."} {
		parts := strings.Split(word, separator)
		if len(parts) != 3 {
			continue
		}
		long := 0
		for _, p := range parts {
			if p == "" || len(p) > 4 || len(p) == 3 || strings.Trim(p, "0123456789") != "" {
				return false
			}
			if len(p) == 4 {
				long++
			}
		}
		return long == 1
	}
	return false
}

// monthDay takes a date that begins with the name of the month.
func (w *mentionScanner) monthDay(start, end int) int {
	if end-start > len("september") || !isMonth(w.text[start:end]) {
		return 0
	}
	at := w.digitsEnd(end, " ", 2)
	if at == end {
		return 0
	}
	stop := w.digitsEnd(at, ", ", 4)
	w.found(conversation.FactNumber, w.text[start:stop])
	return stop
}

// digitsEnd returns the end of a number of at most most digits after a separator, or the position.
func (w *mentionScanner) digitsEnd(at int, separator string, most int) int {
	if !strings.HasPrefix(w.text[at:], separator) {
		return at
	}
	stop := at + len(separator)
	for stop < len(w.text) && isDigit(w.text[stop]) && stop <= at+len(separator)+most {
		stop++
	}
	if n := stop - at - len(separator); n == 0 || n > most {
		return at
	}
	return stop
}
