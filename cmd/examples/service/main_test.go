package main

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

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
	_, _, body := do(t, "GET", url+"/ping")
	require.Equal(t, "pong\n", body)
	_, _, body = do(t, "GET", url+"/debug/magpie/dump")
	require.Contains(t, body, `executor "pictures"`)
	for path, want := range map[string]int{
		"/pictures?width=0": http.StatusBadRequest, "/pictures?width=many": http.StatusBadRequest,
		"/pictures": http.StatusBadRequest,
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

// Pictures that there is no room for are refused. At the end those in progress are cancelled after the grace.
func TestBusyAndShutdown(t *testing.T) {
	url, end := begin(t, 100*time.Millisecond)
	for i := range 16 {
		status, _, _ := do(t, "POST", url+"/pictures?width=4000")
		require.Equal(t, http.StatusAccepted, status, "picture %d", i+1)
	}
	status, header, _ := do(t, "POST", url+"/pictures?width=4000")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "1", header.Get("Retry-After"))

	status, _, _ = do(t, "DELETE", url+"/pictures/3")
	require.Equal(t, http.StatusOK, status)
	require.Eventually(t, func() bool {
		status, _, _ := do(t, "POST", url+"/pictures?width=1")
		return status == http.StatusAccepted
	}, time.Minute, time.Millisecond, "there is room when the workers have come to the one that was deleted")
	status, _, _ = do(t, "GET", fmt.Sprint(url, "/pictures/3"))
	require.Equal(t, http.StatusNotFound, status)

	require.ErrorIs(t, end(), context.DeadlineExceeded)
}
