package record

// Calibration is what reports have taught about a model's tokens; the fields are those of tokens.Calibration.
type Calibration struct {
	Prior                   float64
	Counted, Reported       int
	CountedSum, ReportedSum float64
}

// EncodeCalibration makes the value of a slot. stored is the value that it replaces.
func EncodeCalibration(c *Calibration, stored []byte) []byte {
	return append(encodeSlot(c, calibrationFields), unknown(stored, 5)...)
}

// DecodeCalibration reads what EncodeCalibration made.
func DecodeCalibration(value []byte) (Calibration, error) {
	return decodeSlot(value, calibrationFields)
}

func calibrationFields(f *fields, c *Calibration) {
	f.float(1, &c.Prior)
	integer(f, 2, &c.Counted)
	integer(f, 3, &c.Reported)
	f.float(4, &c.CountedSum)
	f.float(5, &c.ReportedSum)
}

// UsageReport is what a provider reported last, and what was counted for the same context.
type UsageReport struct {
	Manifest int64  `json:"manifest"`
	Model    string `json:"model"`
	Messages int32  `json:"messages"` // on record at the build: the answer came after them
	Counted  int64  `json:"counted"`  // fixed input and messages, before the factor
	Context  int64  `json:"context"`  // everything that was sent
	Output   int64  `json:"output"`
	Thought  int64  `json:"thought"` // reasoning tokens
	Spent    bool   `json:"spent"`   // the view was made smaller for it: that happens once
	Unknown  string `json:"-"`
}

// EncodeUsageReport makes the value of a slot, and DecodeUsageReport reads it.
var EncodeUsageReport, DecodeUsageReport = slotOf(usageReportFields)

func usageReportFields(f *fields, u *UsageReport) {
	integer(f, 1, &u.Manifest)
	f.text(2, &u.Model)
	integer(f, 3, &u.Messages)
	integer(f, 4, &u.Counted)
	integer(f, 5, &u.Context)
	integer(f, 6, &u.Output)
	integer(f, 7, &u.Thought)
	f.bool(8, &u.Spent)
	f.unknown(&u.Unknown)
}
