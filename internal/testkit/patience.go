package testkit

import (
	"os"
	"time"

	"github.com/magpie-go/magpie/internal/waited"
)

// A patience is a time after which a test gives up. A test on a busy machine is slow and does not hang: as long as
// threads of the process wait for cores, a patience begins anew when it is over, up to ten times. With MAGPIE_PATIENCE
// it does not.
type patience struct {
	whole, left time.Duration // all of it, and until the next look
	at          time.Time     // of the last look
	anew        int           // how often it has yet to begin anew
	looking     bool          // left is the time of a look at how long threads wait
	waited      time.Duration // for cores, until that began
}

// lookTime is how long a look takes.
const lookTime = time.Second

func newPatience(d time.Duration) *patience {
	p := &patience{whole: d, left: d, at: time.Now(), anew: 10}
	if os.Getenv("MAGPIE_PATIENCE") != "" {
		p.anew = 0
	}
	return p
}

// over reports whether it is over. It is to be called again and again.
func (p *patience) over() bool {
	now := time.Now()
	if now.Sub(p.at) < p.left {
		return false
	}
	p.at = now
	switch {
	case p.anew == 0:
		return true
	case !p.looking:
		p.looking, p.left, p.waited = true, lookTime, waited.ForCores()
	case waited.ForCores()-p.waited < lookTime/2:
		return true
	default:
		p.looking, p.left = false, p.whole
		p.anew--
	}
	return false
}
