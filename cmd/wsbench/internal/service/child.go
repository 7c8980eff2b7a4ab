package service

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// roleVariable is the environment variable that makes the program a process of a measurement.
const roleVariable = "MAGPIE_SERVICE_ROLE"

// The roles.
const (
	serverRole = "server"
	loadRole   = "load"
)

// Child is the program if it is one of the processes of a measurement, and returns its exit status. Otherwise ok is
// false, and nothing has been read or written.
func Child(stdin io.Reader, stdout, stderr io.Writer) (status int, ok bool) {
	var err error
	switch os.Getenv(roleVariable) {
	case "":
		return 0, false
	case serverRole:
		err = serve(json.NewDecoder(stdin), json.NewEncoder(stdout))
	case loadRole:
		err = generate(json.NewDecoder(stdin), json.NewEncoder(stdout))
	default:
		err = fmt.Errorf("%s is %q", roleVariable, os.Getenv(roleVariable))
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1, true
	}
	return 0, true
}
