package bench

import (
	"errors"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor/host"
	"github.com/stretchr/testify/require"
)

func TestShareSetting(t *testing.T) {
	s, err := NewShareSetting("", nil)
	require.NoError(t, err)
	require.Equal(t, host.Share{}, s.Share)
	require.Equal(t, "yes", s.String())

	// A knob at its default is as one that was not given.
	s, err = NewShareSetting("table", map[string]string{
		"share-weight": "3", "share-minimum": "0", "share-cycle": "5ms", "share-desire": "ready-items",
		"share-efficiency": "0.750",
	})
	require.NoError(t, err)
	require.Equal(t, host.Share{
		Path: "table", Weight: 3, Cycle: 5 * time.Millisecond, Desire: "ready-items", Efficiency: 0.75,
	}, s.Share)
	require.Equal(t, "weight=3+desire=ready-items+efficiency=0.75", s.String())
	require.Equal(t, "magpie (p, d, f, shared: weight=3+desire=ready-items+efficiency=0.75), 2 workers",
		Setting{"magpie", "p", "d", "f", 2, s, false}.String())

	// Each knob has a default that it accepts, or none.
	for _, k := range ShareKnobs() {
		if k.Default == "" {
			continue
		}
		s, err := NewShareSetting("", map[string]string{k.Name: k.Default})
		require.NoError(t, err, k.Name)
		require.Equal(t, "yes", s.String(), k.Name)
	}
}

// TestCheckJoined: an executor that was to share and is alone is an error, with the reason.
func TestCheckJoined(t *testing.T) {
	var none *ShareSetting
	lost := host.ShareStats{Err: errors.New("the table is lost")}
	require.NoError(t, none.checkJoined(host.ShareStats{}))
	require.Nil(t, none.figures(lost))
	require.Nil(t, none.config())
	require.NoError(t, new(ShareSetting).checkJoined(host.ShareStats{Joined: true}))
	require.ErrorIs(t, new(ShareSetting).checkJoined(lost), lost.Err)
}
