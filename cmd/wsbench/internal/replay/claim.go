package replay

// A Claim is something that a document says of what it measured.
type Claim struct {
	ID    string // of the experiment, then a name: "000/fig3 chain"
	Place string // in the document
	Says  string // in our words, with the document's numbers

	needs    need
	refuted  string // how an ideal schedule, or arithmetic, refutes the claim; "" if none does
	baseline string // the conditions of the rows that others are compared with, whose spread is the noise
	judge    func(*Data) Verdict
}

// An Outcome is the result of comparing a claim with measurements.
type Outcome int

const (
	Held        Outcome = iota
	NotHeld             // a result like any other
	NotResolved         // the margin is within the noise
	CannotShow          // this machine cannot show the one or the other
)

var outcomeNames = [...]string{"held", "did not hold", "not resolved", "cannot be shown on this machine"}

func (o Outcome) String() string { return outcomeNames[o] }

// MarshalText makes an outcome its name in JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// A Decider is what decided a verdict. Summaries have them in this order: what was reproduced exactly, what was
// measured, and what this machine cannot decide.
type Decider int

const (
	ByExact Decider = iota
	ByMeasured
	ByDocument
	ByOurs
	ByNoise
	ByMachine
)

// deciders has names, and what to say of the claims of each.
var deciders = [...]struct{ Name, Heading, About string }{
	ByExact:    {"exact", "reproduced exactly", "held: the figures are the same on any machine"},
	ByMeasured: {"measured", "held, measured", "held by what was measured here"},
	ByDocument: {"document", "document", "did not hold: an ideal schedule, or arithmetic, refutes it"},
	ByOurs:     {"ours", "ours", "did not hold, and nothing else explains it"},
	ByNoise:    {"noise", "noise", "not resolved: the margin is within the noise"},
	ByMachine:  {"machine", "machine", "cannot be shown: this machine has too few cores, or could not measure it"},
}

func (d Decider) String() string { return deciders[d].Name }

// MarshalText makes a decider its name in JSON.
func (d Decider) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// A Verdict is what a replay says of a claim.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	By      Decider `json:"decided_by"`
	Found   string  `json:"found"`         // what was measured
	Why     string  `json:"why,omitempty"` // what the claim needs, what refutes it, or how large the noise is
}
