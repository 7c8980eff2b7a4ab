package replay

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/magpie-go/magpie/cmd/wsbench/internal/bench"
)

// ReportFile is the name of the report in the directory of a replay.
const ReportFile = "index.html"

// A page is what the report shows.
type page struct {
	Title       string
	Date        time.Time
	Full        bool
	Environment *bench.Table
	Commit      string
	Took        time.Duration
	Summary     []tally
	Total       tally
	Parts       []part // of the summary
	Answers     []answer
	Cores       int
	Experiments []*section
	Undrawn     bool
	Unrecorded  []string // why the switches of co-runs were not recorded
}

// Deciders returns what decides verdicts.
func (*page) Deciders() any { return deciders }

// Register returns what the documents of the page have.
func (p *page) Register() (some []Listed) {
	for _, l := range Register() {
		if p.has(l.Document) {
			some = append(some, l)
		}
	}
	return some
}

// Parameters returns the parameters of the documents of the page.
func (p *page) Parameters() (some []Parameter) {
	for _, x := range Parameters() {
		if p.has(x.Document) {
			some = append(some, x)
		}
	}
	return some
}

// has reports whether the page has an experiment of a document.
func (p *page) has(document string) bool {
	return slices.ContainsFunc(p.Experiments, func(s *section) bool { return s.Document() == document })
}

// VerdictsFile returns the name of the file with all verdicts.
func (*page) VerdictsFile() string { return VerdictsFile }

// A section is the part of an experiment.
type section struct {
	*Experiment
	Judgements []judgement
	Figures    []drawing
	Table      *bench.Table
	Rows       int
	Begun      []*beginning
	Control    string
	cores      int
	Refused    []string
	CSV        string
}

// A drawing is a figure with its SVG.
type drawing struct {
	*Figure
	SVG template.HTML
}

// Wide reports whether a figure needs the whole width of the page: bars for many categories do.
func (f drawing) Wide() bool { return f.Kind == "bars" && len(f.X.Categories) > 12 }

// A judgement is the verdict on a claim.
type judgement struct {
	*Claim
	Verdict
	cores int // of the machine
}

// DecidedBy returns what decided, in full.
func (j judgement) DecidedBy() string {
	if j.By == ByMachine && j.cores < j.needs.cores {
		return fmt.Sprintf("%v (needs %d cores)", j.By, j.needs.cores)
	}
	return j.By.String()
}

// Class returns the name of the outcome for the style sheet.
func (j judgement) Class() string {
	return [...]string{"held", "not-held", "not-resolved", "cannot-show"}[j.Outcome]
}

// Busy returns the beginnings on a busy machine.
func (s *section) Busy() (some []*beginning) {
	for _, b := range s.Begun {
		if b.Busy(s.cores) {
			some = append(some, b)
		}
	}
	return some
}

// Anchor returns the experiment's place in the page.
func (s *section) Anchor() string { return fileName(s.ID) }

func fileName(id string) string { return strings.ReplaceAll(id, "/", "-") }

// report writes everything that is made of the results: for each experiment its table as CSV and its figures as SVG,
// all results in the Go benchmark format, and the page.
func (r *Replay) report(ctx context.Context, s *store) error {
	p := &page{
		Title: "Replay of the experiments of documents " + strings.Join(r.documents(), ", "), Date: s.manifest.Begun,
		Full: r.Options.Full, Commit: s.manifest.Env.Commit, Environment: bench.EnvironmentTable(s.manifest.Env),
		Cores: s.manifest.Env.Cores,
	}
	for _, rec := range s.records {
		p.Took += time.Duration(rec.TookNS)
	}
	p.Took = p.Took.Round(time.Second)
	var lines bytes.Buffer
	out, err := bench.NewReport[bench.Row]("bench", &lines, s.manifest.Env, nil)
	if err != nil {
		return err
	}
	var figures []*Figure
	files := make(csvFiles)
	for _, e := range r.Experiments {
		d, err := s.data(r.Options, e.measurements(r.Options))
		if err != nil {
			return err
		}
		for _, why := range d.Unrecorded {
			p.Unrecorded = appendNew(p.Unrecorded, why)
		}
		sec, err := e.section(d)
		if err != nil {
			return err
		}
		p.Answers = append(p.Answers, d.answers(e)...)
		if err := files.write(r.Dir, sec, d); err != nil {
			return err
		}
		for i, row := range d.Rows { // an experiment may have measurements of another
			d.Rows[i].Point = row.With("replay", fileName(e.ID))
		}
		if err := out.Add(d.Rows); err != nil {
			return err
		}
		for _, f := range sec.Figures {
			figures = append(figures, f.Figure)
		}
		p.Experiments = append(p.Experiments, sec)
	}
	if err := writeFile(filepath.Join(r.Dir, "results.txt"), lines.Bytes()); err != nil {
		return err
	}
	if p.Undrawn = r.Drawer == nil; !p.Undrawn {
		if err := r.Drawer.Draw(ctx, r.Dir, figures); err != nil {
			return err
		}
		for _, sec := range p.Experiments {
			for i := range sec.Figures {
				if err := sec.Figures[i].load(r.Dir); err != nil {
					return err
				}
			}
		}
	}
	p.Summary, p.Total = summarize(p.Experiments)
	r.total = p.Total
	p.Parts = partsOf(p.Experiments)
	verdicts, err := verdictsOf(p.Experiments)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(r.Dir, VerdictsFile), verdicts); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return err
	}
	return writeFile(filepath.Join(r.Dir, ReportFile), b.Bytes())
}

func (r *Replay) documents() (all []string) {
	for _, e := range r.Experiments {
		all = appendNew(all, e.Document())
	}
	return all
}

// section judges the claims of e and makes its figures and its table.
func (e *Experiment) section(d *Data) (*section, error) {
	s := &section{
		Experiment: e, Rows: len(d.Rows), Begun: d.Begun, cores: d.Env.Cores, Refused: d.Refused,
		CSV: fileName(e.ID) + ".csv", Table: d.tabulate(e.columns, e.metrics),
	}
	for _, m := range e.metrics {
		d.figures = append(d.figures, m.figure)
	}
	s.Control = d.controlled()
	for _, c := range e.claims {
		s.Judgements = append(s.Judgements, judgement{c, c.verdict(d), d.Env.Cores})
	}
	if e.figures != nil {
		for _, f := range e.figures(d) {
			if len(f.Series) > 0 {
				if err := e.print(f); err != nil {
					return nil, err
				}
				s.Figures = append(s.Figures, drawing{Figure: f})
			}
		}
	}
	return s, nil
}

// load reads the SVG of a drawing, to be part of the page.
func (f *drawing) load(dir string) error {
	svg, err := os.ReadFile(filepath.Join(dir, f.File+".svg"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the drawer made no %s.svg", f.File)
	}
	if err != nil {
		return err
	}
	// A page has SVG elements without the prologue of a file.
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:]
	}
	f.SVG = template.HTML(svg) // our own drawer made it, from numbers and our own names
	return nil
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))
