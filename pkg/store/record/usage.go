package record

// Calibration is what reports have taught about a model's tokens; the fields are those of tokens.Calibration.
type Calibration struct {
	Prior                   float64
	Counted, Reported       int
	CountedSum, ReportedSum float64
}

// EncodeCalibration makes the value of a slot. stored is the value that it replaces.
func EncodeCalibration(c *Calibration, stored []byte) []byte {
	return append(encodeSlot(c, writeCalibration), unknown(stored, 5)...)
}

// DecodeCalibration reads what EncodeCalibration made.
func DecodeCalibration(value []byte) (Calibration, error) { return decodeSlot(value, readCalibration) }

func writeCalibration(b []byte, c *Calibration) []byte {
	b = appendFloat(b, 1, c.Prior)
	b = appendInt(b, 2, c.Counted)
	b = appendInt(b, 3, c.Reported)
	b = appendFloat(b, 4, c.CountedSum)
	return appendFloat(b, 5, c.ReportedSum)
}

func readCalibration(r *reader, c *Calibration) {
	for r.next() {
		switch r.field {
		case 1:
			c.Prior = r.float()
		case 2:
			c.Counted = int(r.int64())
		case 3:
			c.Reported = int(r.int64())
		case 4:
			c.CountedSum = r.float()
		case 5:
			c.ReportedSum = r.float()
		}
	}
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

// EncodeUsageReport makes the value of a slot.
func EncodeUsageReport(u *UsageReport) []byte { return encodeSlot(u, writeUsageReport) }

// DecodeUsageReport reads what EncodeUsageReport made.
func DecodeUsageReport(value []byte) (UsageReport, error) { return decodeSlot(value, readUsageReport) }

func writeUsageReport(b []byte, u *UsageReport) []byte {
	b = appendInt(b, 1, u.Manifest)
	b = appendText(b, 2, u.Model)
	b = appendInt(b, 3, u.Messages)
	b = appendInt(b, 4, u.Counted)
	b = appendInt(b, 5, u.Context)
	b = appendInt(b, 6, u.Output)
	b = appendInt(b, 7, u.Thought)
	b = appendBool(b, 8, u.Spent)
	return append(b, u.Unknown...)
}

func readUsageReport(r *reader, u *UsageReport) {
	for r.next() {
		switch r.field {
		case 1:
			u.Manifest = r.int64()
		case 2:
			u.Model = r.text()
		case 3:
			u.Messages = r.int32()
		case 4:
			u.Counted = r.int64()
		case 5:
			u.Context = r.int64()
		case 6:
			u.Output = r.int64()
		case 7:
			u.Thought = r.int64()
		case 8:
			u.Spent = r.bool()
		default:
			u.Unknown += r.raw
		}
	}
}
