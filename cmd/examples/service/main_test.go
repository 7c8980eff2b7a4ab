package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/internal/testkit"
	"github.com/stretchr/testify/require"
)

// begin starts the service. end stops it.
func begin(t *testing.T, grace time.Duration) (url string, end func() error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, grace) }()
	return "http://" + listener.Addr().String(), func() error { cancel(); return <-ended }
}

func do(t *testing.T, method, url string) (status int, header http.Header, body string) {
	r, err := http.NewRequest(method, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header, string(text)
}

func TestPicture(t *testing.T) {
	url, end := begin(t, time.Minute)
	status, header, _ := do(t, "POST", url+"/pictures?width=120")
	require.Equal(t, http.StatusAccepted, status)
	for {
		status, _, body := do(t, "GET", url+header.Get("Location"))
		if status == http.StatusAccepted {
			require.Regexp(t, `^\d+ of 121 steps\n$`, body)
			continue
		}
		require.Equal(t, http.StatusOK, status)
		img, err := png.Decode(strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, 120, img.Bounds().Dx())
		inside, _, _, _ := img.At(90, 60).RGBA() // c = 0
		require.EqualValues(t, 0xffff, inside)
		break
	}
	_, _, body := do(t, "GET", url+"/ping")
	require.Equal(t, "pong\n", body)
	_, _, body = do(t, "GET", url+"/debug/magpie/dump")
	require.Contains(t, body, `executor "pictures"`)
	_, _, body = do(t, "GET", url+"/debug/vars")
	var vars struct {
		Magpie map[string]any `json:"magpie"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &vars))
	require.EqualValues(t, inProgress, vars.Magpie["/magpie/intake/maximum:runs"])
	for path, want := range map[string]int{
		"/pictures?width=0": http.StatusBadRequest, "/pictures?width=many": http.StatusBadRequest,
		"/pictures": http.StatusBadRequest, "/pictures?width=4001": http.StatusBadRequest,
	} {
		status, _, _ = do(t, "POST", url+path)
		require.Equal(t, want, status, path)
	}
	for _, path := range []string{"/pictures/7", "/pictures/x"} {
		status, _, _ = do(t, "GET", url+path)
		require.Equal(t, http.StatusNotFound, status, path)
	}
	require.NoError(t, end())
}

// The newest pictures are kept, and those that are being drawn. Others are forgotten.
func TestOldPictures(t *testing.T) {
	ex, err := executor.New(executor.Config{Workers: 2})
	require.NoError(t, err)
	defer ex.Close()
	gate := make(chan struct{})
	defer close(gate)
	slow := ex.Start(t.Context(), executor.NewJob("slow", func(*executor.Scope) error { <-gate; return nil }))
	s := &service{ex: ex, pictures: map[int]*picture{1: {run: slow}}, last: 1}
	for range 2 * kept {
		answer := httptest.NewRecorder()
		s.handler().ServeHTTP(answer, httptest.NewRequest("POST", "/pictures?width=1", nil))
		require.Equal(t, http.StatusAccepted, answer.Code)
		require.NoError(t, s.pictures[s.last].run.Wait())
	}
	want := []int{1}
	for number := s.last - kept + 2; number <= s.last; number++ {
		want = append(want, number)
	}
	require.Equal(t, want, slices.Sorted(maps.Keys(s.pictures)))
}

// Pictures that there is no room for are refused. At the end those in progress are cancelled after the grace.
func TestBusyAndShutdown(t *testing.T) {
	url, end := begin(t, 100*time.Millisecond)
	var status int
	var header http.Header
	for picture := 1; status != http.StatusServiceUnavailable; picture++ {
		status, header, _ = do(t, "POST", url+"/pictures?width=1200") // some have ended if the machine is busy
		if picture <= inProgress {
			require.Equal(t, http.StatusAccepted, status, "picture %d", picture)
		}
	}
	require.Equal(t, "1", header.Get("Retry-After"))

	status, _, _ = do(t, "DELETE", url+"/pictures/3")
	require.Equal(t, http.StatusOK, status)
	testkit.Until(t, "there is room when a picture has ended, or was deleted", func() bool {
		status, _, _ := do(t, "POST", url+"/pictures?width=1")
		return status == http.StatusAccepted
	})
	status, _, _ = do(t, "GET", fmt.Sprint(url, "/pictures/3"))
	require.Equal(t, http.StatusNotFound, status)

	require.ErrorIs(t, end(), context.DeadlineExceeded)
}
