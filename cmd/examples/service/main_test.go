package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/service"
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
			require.Regexp(t, `^\d+ of 120 rows\n$`, body)
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
	_, _, body := do(t, "GET", url+"/debug/magpie/dump")
	require.Contains(t, body, `executor "pictures"`)
	_, _, body = do(t, "GET", url+"/debug/magpie/stats?format=json")
	var stats []map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &stats))
	require.EqualValues(t, inProgress, stats[0]["/magpie/intake/maximum:runs"])
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

// The newest pictures are kept. An older one that is still drawn ends.
func TestOldPictures(t *testing.T) {
	ex, err := service.New(executor.Config{Workers: 2}, service.Options{})
	require.NoError(t, err)
	defer ex.Close()
	slow := &picture{run: ex.Start(t.Context(), executor.NewJob("slow", func(s *executor.Scope) error {
		<-s.Context().Done()
		return nil
	}))}
	s := &pictures{ex: ex}
	s.last.Store(1)
	s.all.Store("1", slow)
	for range 2 * kept {
		answer := httptest.NewRecorder()
		s.handler().ServeHTTP(answer, httptest.NewRequest("POST", "/pictures?width=1", nil))
		require.Equal(t, http.StatusAccepted, answer.Code)
	}
	require.ErrorContains(t, slow.run.Wait(), "too many newer pictures")
	for number := range s.last.Load() + 1 {
		answer := httptest.NewRecorder()
		s.handler().ServeHTTP(answer, httptest.NewRequest("GET", fmt.Sprint("/pictures/", number), nil))
		require.Equal(t, number > s.last.Load()-kept, answer.Code != http.StatusNotFound, "picture %d", number)
	}
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

	require.ErrorIs(t, end(), context.DeadlineExceeded)
}
